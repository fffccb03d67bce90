import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

export const OPERATOR_TOKEN = "operator-token-of-the-bench";

const Reply = z
  .object({ port: z.number(), tokens: z.array(z.string()), rss: z.number(), processorMs: z.number() })
  .partial();

export type BenchServer = AsyncDisposable & {
  port: number;
  pid: number;
  /** Creates tokens of new children, each with its own session. */
  children(count: number): Promise<string[]>;
  /** Settles all pending requests. */
  abandonAll(): void;
  /** Returns the resident memory in bytes, after a garbage collection. */
  memory(): Promise<number>;
  /** Returns the peak since the last call. */
  peakMemory(): Promise<number>;
  /** Returns the processor time since the server's start. */
  processorMs(): Promise<number>;
};

export type BenchServerOptions = {
  script?: string;
  /** Further settings, as environment variables. */
  settings?: Record<string, string>;
};

export function temporaryDataDir(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "plexus-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export async function startBenchServer(
  dataDir: string,
  { script = join(import.meta.dir, "server.ts"), settings = {} }: BenchServerOptions = {},
): Promise<BenchServer> {
  let answered: ((reply: z.infer<typeof Reply>) => void) | undefined;
  const child = Bun.spawn([process.execPath, script], {
    env: { ...process.env, ...settings, PLEXUS_DATA_DIR: dataDir, PLEXUS_TOKEN: OPERATOR_TOKEN },
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (message) => answered?.(Reply.parse(message)),
  });
  const reply = () =>
    new Promise<z.infer<typeof Reply>>((resolve) => {
      answered = resolve;
    });
  const ask = (command: string, argument = 0) => {
    const answer = reply();
    child.send([command, argument]);
    return answer;
  };
  const ended = child.exited.then((code) => Promise.reject(new Error(`the server ended with exit code ${code}`)));
  ended.catch(() => {});
  const { port = 0 } = await Promise.race([reply(), ended]);
  return {
    port,
    pid: child.pid,
    children: async (count) => (await ask("children", count)).tokens ?? [],
    abandonAll: () => child.send(["abandon", 0]),
    memory: async () => (await ask("memory")).rss ?? 0,
    peakMemory: async () => (await ask("peak")).rss ?? 0,
    processorMs: async () => (await ask("processor")).processorMs ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
