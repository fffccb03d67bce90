import { type App, openApp } from "../app.ts";
import type { Config } from "../config.ts";
import { startHttpServer } from "../http/server.ts";
import { createLog, type Log } from "../log.ts";
import { createLazyMcpEndpoint } from "../mcp/lazy-endpoint.ts";
import { DataDirInUse } from "../storage/database.ts";
import { VERSION } from "../version.ts";
import { fileFailure } from "./file-failure.ts";
import { isGone, readServerFile, type ServerFile, writeServerFile } from "./server-file.ts";
import { CommandFailed, type Terminal } from "./terminal.ts";
import { AUTH_NONE_WARNING, welcome } from "./welcome.ts";

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Serves until a signal says to stop. */
export async function serve(config: Config, terminal: Terminal): Promise<void> {
  process.umask(0o077);
  using signals = catchStopSignals();
  const log = serverLog(config, terminal);
  await using app = open(config, log);
  // The HTTP server takes it over, but only once it listens.
  await using mcp = createLazyMcpEndpoint(app);
  await using http = startHttpServer(app, mcp);
  using _ = writeServerFile(config.dataDir, { pid: process.pid, url: http.url, operator_token: tokenSource(config) });
  if (terminal.isInteractive) {
    terminal.out(welcome(config, http.url, app.readiness().claude, terminal));
  } else {
    if (config.auth === "none") log.warn(AUTH_NONE_WARNING);
    log.info("listening", { url: http.url, version: VERSION, data_dir: config.dataDir, pid: process.pid });
  }
  const signal = await signals.first;
  if (terminal.isInteractive) terminal.out("\nStopping. What nobody has decided stays on record.\n");
  log.info("stopping", { signal });
}

/** On the screen that shows the welcome, only what went wrong is worth a line. */
function serverLog(config: Config, terminal: Terminal): Log {
  const isQuiet = terminal.isInteractive && terminal.showsErrors && config.logLevel === "info";
  return createLog(isQuiet ? "warn" : config.logLevel, terminal.err);
}

function open(config: Config, log: Log): App {
  try {
    return openApp(config, log);
  } catch (cause) {
    if (!(cause instanceof DataDirInUse)) throw fileFailure(`The data dir ${config.dataDir} can't be used`, cause);
    throw new CommandFailed(
      `Another Plexus serves ${config.dataDir}: ${holderOf(config)}. Stop it, or choose another --data-dir.`,
    );
  }
}

function holderOf(config: Config): string {
  const holder = readServerFile(config.dataDir);
  if (!holder || isGone(holder)) return "a process that is just starting or stopping";
  return `process ${holder.pid}, listening on ${holder.url}`;
}

function tokenSource(config: Config): ServerFile["operator_token"] {
  if (config.auth === "none") return "none";
  return config.token ? "environment" : "stored";
}

/** Caught from the start, and still when stopping: a second signal must not cut that short. */
function catchStopSignals(): Disposable & { first: Promise<string> } {
  const { promise: first, resolve } = Promise.withResolvers<string>();
  for (const signal of STOP_SIGNALS) process.on(signal, resolve);
  return {
    first,
    [Symbol.dispose]() {
      for (const signal of STOP_SIGNALS) process.off(signal, resolve);
    },
  };
}
