import type { Config } from "../../config.ts";
import type { Listener } from "../../http/listener.ts";
import { listenAhead } from "../../http/server.ts";
import { lockDataDir } from "../../storage/sqlite/lock.ts";
import { CommandFailed } from "../terminal/terminal.ts";
import { isGone, readServerFile, type ServerFile } from "./server-file.ts";

/** Tells a server to exit and leave its children to the next one. */
export const HAND_OVER_SIGNAL = "SIGUSR2";
const HAND_OVER_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 5;

/**
 * Listens on the address of this data dir's server, because its children know no other, and tells the server to hand
 * over. Resolves when the server is gone; calls wait meanwhile. `undefined` if no server runs.
 */
export async function takePort(config: Config): Promise<Listener | undefined> {
  if (!runningServer(config)) return undefined;
  using turn = lockDataDir(config.dataDir, "takeover.db");
  // Read again: the process that held the lock before may have taken over.
  const server = runningServer(config);
  if (!turn) throw new CommandFailed(`Another process is taking over from the Plexus that serves ${config.dataDir}.`);
  if (!server) return undefined;
  const address = { host: config.host, port: Number(new URL(server.url).port) };
  const listener = listenAhead(address, { beside: true });
  try {
    await handedOver(server);
    return listener;
  } catch (cause) {
    await listener[Symbol.asyncDispose]();
    throw cause;
  }
}

async function handedOver(server: ServerFile): Promise<void> {
  process.kill(server.pid, HAND_OVER_SIGNAL);
  const deadline = performance.now() + HAND_OVER_WITHIN_MS;
  while (!isGone(server)) {
    if (performance.now() > deadline) throw stays(server);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

function runningServer(config: Config): ServerFile | undefined {
  const server = readServerFile(config.dataDir);
  return server && !isGone(server) ? server : undefined;
}

function stays({ pid, url }: ServerFile): CommandFailed {
  const secs = HAND_OVER_WITHIN_MS / 1000;
  return new CommandFailed(`Process ${pid} did not hand over ${url} within ${secs} s: look at its log, or stop it.`);
}
