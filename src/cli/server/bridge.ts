import type { Config } from "../../config.ts";
import { isUnreachable } from "../../contract/refusals/refused.ts";
import { type BridgeEnd, type BridgeNeed, runBridge } from "../../mcp/bridge/bridge.ts";
import { CommandFailed } from "../terminal/terminal.ts";
import { ensureServer } from "./detached-server.ts";
import { fetchUnproxied, reachServer } from "./server-client.ts";

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Carries MCP between this process's pipes and the server until the client closes its end. */
export async function bridge(config: Config, say: (line: string) => void): Promise<void> {
  const stop = new AbortController();
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop.abort());
  if (!config.url) await ensureServer(config, say, stop.signal);
  const end = await runBridge({
    input: Bun.stdin.stream(),
    write: writeOut,
    find: () => findIfRunning(config),
    // No timeout: a client may listen for hours without an event.
    fetch: (url, init) => fetchUnproxied(url, { ...init, timeout: false }),
    say,
    stopped: stop.signal,
  });
  if (end.kind === "unauthorized") throw refused(end);
}

function findIfRunning(config: Config): ReturnType<BridgeNeed["find"]> {
  try {
    return reachServer(config);
  } catch (cause) {
    if (isUnreachable(cause)) return undefined;
    throw cause;
  }
}

function writeOut(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (cause) => (cause ? reject(cause) : resolve()));
  });
}

function refused({ url, message }: Extract<BridgeEnd, { kind: "unauthorized" }>): CommandFailed {
  return new CommandFailed(`The Plexus at ${url} refuses this token, so nothing can be asked of it. ${message}`);
}
