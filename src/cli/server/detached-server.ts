import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { MARK } from "../../claude/process/markers.ts";
import type { Config } from "../../config.ts";
import { isAlive } from "../../contract/routes/server.ts";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";
import { fileFailure } from "./file-failure.ts";
import { fetchUnproxied, locateServer } from "./server-client.ts";

const PROBE_EVERY_MS = 50;
const PROBE_MS = 4_000;
/** How long to wait after our server ended: another starting one may hold the data dir. */
const AFTER_ITS_END_MS = 5_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * Starts a server on this data dir that outlives this process, unless one runs. If two start at once, one of them
 * stays.
 */
export async function ensureServer(config: Config, say: (line: string) => void, stopped: AbortSignal): Promise<void> {
  if (await isServed(config)) return;
  // Inside a child, the server would end with the child.
  if (config.environment[MARK] !== undefined) return;
  const log = join(config.dataDir, "server.log");
  const server = startDetached(config, log);
  let endedAt: number | undefined;
  while (!stopped.aborted && !(await isServed(config))) {
    if (server.exitCode !== null || server.signalCode !== null) endedAt ??= performance.now();
    if (endedAt !== undefined && performance.now() - endedAt > AFTER_ITS_END_MS) throw notStarted(log);
    await pause(PROBE_EVERY_MS);
  }
  const { url } = locateServer(config);
  say(`Started Plexus at ${url}. It goes on in the background: \`plexus stop\` ends it, ${log} is its log.`);
}

async function isServed(config: Config): Promise<boolean> {
  try {
    const { url } = locateServer(config);
    return (await fetchUnproxied(`${url}${isAlive.path}`, { signal: AbortSignal.timeout(PROBE_MS) })).ok;
  } catch (cause) {
    if (cause instanceof CommandFailed) throw cause;
    return false;
  }
}

/**
 * Starts the server in its own process session and outside of the client's directory, because it also serves other
 * clients.
 */
function startDetached(config: Config, log: string): Bun.Subprocess {
  const output = openLog(config.dataDir, log);
  try {
    const server = Bun.spawn([...config.program, "serve", "--data-dir", config.dataDir], {
      cwd: existsSync(config.home) ? config.home : "/",
      env: config.environment,
      stdio: ["ignore", output, output],
      detached: true,
    });
    server.unref();
    return server;
  } finally {
    closeSync(output);
  }
}

function openLog(dataDir: string, log: string): number {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(log, `${log}.1`);
    return openSync(log, "a", 0o600);
  } catch (cause) {
    throw fileFailure(`The data dir ${dataDir} can't be used`, cause);
  }
}

function notStarted(log: string): CommandFailed {
  const last = readFileSync(log, "utf8").trim().split("\n").at(-1);
  return new CommandFailed(`The server could not be started: ${last || "it said nothing"}`, ExitCode.unreachable);
}
