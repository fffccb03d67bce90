import { setTimeout as pause } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { UNTIL_INPUT_ENDS } from "../commands/server/serve.ts";
import { readServerFile } from "../server/server-file.ts";
import { Failing } from "./finding.ts";

const LOOK_EVERY_MS = 30;
const STARTED_WITHIN_MS = 15_000;

/**
 * Starts a server for this examination alone, on its own data dir, and returns a config to reach it. It ends with its
 * standard input, and so with this process, however that ends.
 */
export async function startPrivateServer(
  config: Config,
  dataDir: string,
  signal: AbortSignal,
): Promise<AsyncDisposable & { config: Config }> {
  const flags = ["--host", "127.0.0.1", "--port", "0", "--data-dir", dataDir, "--log-level", "error", UNTIL_INPUT_ENDS];
  const server = Bun.spawn([...config.program, "serve", ...flags], {
    cwd: "/",
    env: withoutSettings(config.environment),
    stdio: ["pipe", "ignore", "pipe"],
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => {
    server.kill("SIGTERM");
    await server.exited;
  });
  const deadline = performance.now() + STARTED_WITHIN_MS;
  while (!readServerFile(dataDir)) {
    signal.throwIfAborted();
    if (server.exitCode !== null || performance.now() > deadline) {
      server.kill("SIGKILL");
      const said = (await server.stderr.text()).trim().split("\n").at(-1);
      throw new Failing(`It did not start: ${said || "it said nothing"}`, "Run `plexus serve`, and see what it says.");
    }
    await pause(LOOK_EVERY_MS);
  }
  const owned = stack.move();
  return {
    config: { ...config, dataDir, url: undefined, token: undefined },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The environment without settings that were meant for another server. */
function withoutSettings(environment: Config["environment"]): Config["environment"] {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("PLEXUS_")));
}
