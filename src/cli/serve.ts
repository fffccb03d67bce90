import { Command } from "commander";
import { type App, openApp } from "../app.ts";
import type { Config, Flags } from "../config.ts";
import { startHttpServer } from "../http/server.ts";
import { createLog } from "../log.ts";
import { createMcpEndpoint } from "../mcp/endpoint.ts";
import { DataDirInUse } from "../storage/database.ts";
import { VERSION } from "../version.ts";
import { readServerFile, writeServerFile } from "./server-file.ts";
import { configOf, SERVER_SETTINGS, withSettings } from "./settings.ts";
import { CommandFailed, type Terminal } from "./terminal.ts";

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export function serveCommand(terminal: Terminal): Command {
  const command = new Command("serve").description("start the server (what plexus does unless told otherwise)");
  return withSettings(command, SERVER_SETTINGS).action((flags: Flags) => serve(configOf(flags), terminal));
}

async function serve(config: Config, terminal: Terminal): Promise<void> {
  process.umask(0o077);
  const log = createLog(terminal.isInteractive && config.logLevel === "info" ? "warn" : config.logLevel, terminal.err);
  await using app = open(config, log);
  await using mcp = createMcpEndpoint(app);
  await using http = startHttpServer(app, mcp.handle);
  using _ = writeServerFile(config.dataDir, { pid: process.pid, url: http.url });
  const stopped = stopSignal();
  if (config.auth === "none") log.warn("--auth none: every process on this machine may decide, children too");
  if (terminal.isInteractive) terminal.out(welcome(app, http.url));
  else log.info("listening", { url: http.url, version: VERSION, data_dir: config.dataDir, pid: process.pid });
  const signal = await stopped;
  log.info("stopping", { signal });
}

function open(config: Config, log: ReturnType<typeof createLog>): App {
  try {
    return openApp(config, log);
  } catch (cause) {
    if (!(cause instanceof DataDirInUse)) throw cause;
    const holder = readServerFile(config.dataDir);
    const who = holder
      ? `process ${holder.pid}, listening on ${holder.url}`
      : "a process that is just starting or stopping";
    throw new CommandFailed(`Another Plexus serves ${config.dataDir}: ${who}. Stop it, or choose another --data-dir.`);
  }
}

function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve(signal));
  });
}

function welcome(app: App, url: string): string {
  const { config } = app;
  const header = config.auth === "none" ? "" : ` --header "Authorization: Bearer $(${selfCommand(config)} token show)"`;
  return `Plexus ${VERSION} listens on ${url}

Add it to Claude Code, in another terminal:

  claude mcp add --transport http plexus ${url}/mcp${header}

See what waits for a decision, and decide:

  ${selfCommand(config)} pending
  ${selfCommand(config)} allow ID
  ${selfCommand(config)} deny ID -m "why"

Data: ${config.dataDir}. Stop with Ctrl-C.
`;
}

/** How this very program is called from another terminal. */
function selfCommand(config: Config): string {
  const isCompiled = !process.execPath.endsWith("/bun");
  const program = isCompiled ? process.execPath : `${process.execPath} ${Bun.main}`;
  const dataDir = config.isDefaultDataDir ? "" : ` --data-dir ${config.dataDir}`;
  return `${program}${dataDir}`;
}
