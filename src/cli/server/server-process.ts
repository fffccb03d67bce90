import { type App, openApp } from "../../app.ts";
import type { Config } from "../../config.ts";
import { type Listener, PortInUse } from "../../http/listener.ts";
import { listenAhead, startHttpServer } from "../../http/server.ts";
import { createLog, errorFields, type Log } from "../../log.ts";
import { createLazyMcpEndpoint } from "../../mcp/lazy-endpoint.ts";
import { DataDirInUse } from "../../storage/sqlite/database.ts";
import { VERSION } from "../../version.ts";
import { CommandFailed, type Terminal } from "../terminal/terminal.ts";
import { showActivity } from "./console/activity-lines.ts";
import { stopWarning, type UnfinishedWork } from "./console/unfinished-work.ts";
import { AUTH_NONE_WARNING, welcome } from "./console/welcome.ts";
import { fileFailure } from "./file-failure.ts";
import { pageUrl } from "./page-url.ts";
import { isGone, readServerFile, type ServerFile, writeServerFile } from "./server-file.ts";
import { HAND_OVER_SIGNAL, takePort } from "./takeover.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", HAND_OVER_SIGNAL] as const;

/** After this time, a second Ctrl-C counts as a first one again. */
const CONFIRM_WITHIN_MS = 10_000;
const MOST_COUNTED = 1_000;

const STOPPING = "\nStopping. What nobody has decided stays on record.\n";
const HANDING_OVER = "\nHanding over: the children go on, and the next server finds them.\n";

type Manner = { takeover?: true | undefined; untilInputEnds?: true | undefined };

/** Serves until a signal tells it to stop, or to leave the children to the next server. */
export async function serve(config: Config, terminal: Terminal, manner: Manner = {}): Promise<void> {
  process.umask(0o077);
  using signals = catchSignals(manner);
  const log = serverLog(config, terminal);
  // Take the port before looking after the children of an earlier server: they must not suffer if the port is in use.
  await using listener = (manner.takeover ? await takePort(config) : undefined) ?? listenAlone(config);
  await using app = await open(config, log);
  try {
    const stopped: Stopped = (count) =>
      terminal.isInteractive ? confirmedStop(signals, count, terminal) : signals.next();
    const signal = await serveUntil(stopped, { app, listener, log, terminal });
    if (signal === HAND_OVER_SIGNAL) await app.turns.handOver();
  } catch (cause) {
    // Only a signal to stop ends the children. After a crash the next server may run fine, so leave them to it.
    await app.turns.handOver();
    throw cause;
  }
}

type Serving = { app: App; listener: Listener; log: Log; terminal: Terminal };
/** Resolves with the signal that stops the server. If a person must confirm, `count` counts the work that would end. */
type Stopped = (count: () => Promise<UnfinishedWork>) => Promise<string>;

async function serveUntil(stopped: Stopped, { app, listener, log, terminal }: Serving): Promise<string> {
  const { config } = app;
  // The HTTP server takes over the endpoint once it listens.
  await using mcp = createLazyMcpEndpoint(app);
  await using http = startHttpServer(app, mcp, { listener });
  using _ = writeServerFile(config.dataDir, { url: http.url, operator_token: tokenSource(config) });
  if (terminal.isInteractive) {
    const page = pageUrl(http.url, (await app.signIn.newCode({ kind: "operator" })).code);
    terminal.out(
      welcome(config, { url: http.url, page }, { claude: await app.claude(), rules: app.rules.fileStatus() }, terminal),
    );
  } else {
    if (config.auth === "none") log.warn(AUTH_NONE_WARNING);
    log.info("listening", { url: http.url, version: VERSION, data_dir: config.dataDir, pid: process.pid });
  }
  using shown = new DisposableStack();
  const leave = new AbortController();
  shown.defer(() => leave.abort());
  if (terminal.isInteractive)
    showActivity(app, terminal, leave.signal).catch((cause) =>
      log.error("activity is no longer shown", errorFields(cause)),
    );
  const signal = await stopped(() => unfinished(app));
  const handsOver = signal === HAND_OVER_SIGNAL;
  if (terminal.isInteractive) terminal.out(handsOver ? HANDING_OVER : STOPPING);
  log.info(handsOver ? "handing over" : "stopping", { signal });
  return signal;
}

/** On the screen with the welcome text, only warnings and errors are logged. */
function serverLog(config: Config, terminal: Terminal): Log {
  const isQuiet = terminal.isInteractive && terminal.showsErrors && config.logLevel === "info";
  return createLog(isQuiet ? "warn" : config.logLevel, terminal.err);
}

function listenAlone(config: Config): Listener {
  try {
    return listenAhead(config, { beside: false });
  } catch (cause) {
    const holder = readServerFile(config.dataDir);
    const isOurs = holder && !isGone(holder) && Number(new URL(holder.url).port) === config.port;
    throw cause instanceof PortInUse && isOurs ? inUse(config) : cause;
  }
}

async function open(config: Config, log: Log): Promise<App> {
  try {
    return await openApp(config, log);
  } catch (cause) {
    throw cause instanceof DataDirInUse
      ? inUse(config)
      : fileFailure(`The data dir ${config.dataDir} can't be used`, cause);
  }
}

function inUse(config: Config): CommandFailed {
  const advice = "Stop it, take over from it with --takeover, or choose another --data-dir.";
  return new CommandFailed(`Another Plexus serves ${config.dataDir}: ${holderOf(config)}. ${advice}`);
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

/** Ctrl-C on a terminal needs a second press if it would end work. Every other signal counts at once. */
async function confirmedStop(
  signals: Signals,
  count: () => Promise<UnfinishedWork>,
  terminal: Terminal,
): Promise<string> {
  let askedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const signal = await signals.next();
    if (signal !== "SIGINT" || performance.now() - askedAt < CONFIRM_WITHIN_MS) return signal;
    const warning = stopWarning(await count());
    if (warning === undefined) return signal;
    askedAt = performance.now();
    terminal.out(`\n${warning} Press Ctrl-C again to stop all the same.\n`);
  }
}

async function unfinished({ sessionViews, approvals }: App): Promise<UnfinishedWork> {
  const operator = { kind: "operator" } as const;
  const statuses = ["running", "awaiting_permission", "queued"] as const;
  const pages = statuses.map((status) =>
    sessionViews.list(operator, { status, limit: MOST_COUNTED, cursor: undefined }),
  );
  const sessions = (await Promise.all(pages)).flatMap((page) => page.sessions);
  const { approvals: pending } = await approvals.pending(operator, undefined, MOST_COUNTED);
  return { turns: sessions.length, requests: pending.length };
}

type Signals = Disposable & { next(): Promise<string> };

/** Catches signals from the start until the end: a second signal must not cut the stop short. */
function catchSignals({ untilInputEnds }: Manner): Signals {
  const caught: string[] = [];
  let bell = Promise.withResolvers<void>();
  const take = (signal: string) => {
    caught.push(signal);
    bell.resolve();
  };
  for (const signal of SIGNALS) process.on(signal, take);
  if (untilInputEnds) process.stdin.once("close", () => take("the end of standard input")).resume();
  return {
    async next() {
      await bell.promise;
      const signal = caught.shift() ?? "";
      if (caught.length === 0) bell = Promise.withResolvers<void>();
      return signal;
    },
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, take);
      if (untilInputEnds) process.stdin.destroy();
    },
  };
}
