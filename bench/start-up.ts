import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile, timed } from "./measure.ts";

/** Measures the time from the process's start to its first answer on `/healthz`, on a used data dir. */
export async function startUp(program: string, rounds: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-bench-"));
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const port = freePort();
    const flags = ["serve", "--port", String(port), "--data-dir", directory, "--log-level", "silent"];
    const start = performance.now();
    const server = Bun.spawn([program, ...flags], { stdio: ["ignore", "ignore", "inherit"] });
    await answered(`http://127.0.0.1:${port}/healthz`);
    // The first round creates the database, which happens once per data dir.
    if (round > 0) samples.push(performance.now() - start);
    server.kill("SIGTERM");
    await server.exited;
  }
  rmSync(directory, { recursive: true, force: true });
  return percentile(samples, 0.5);
}

/** Measures a start of the smallest compiled program, the minimum for any start. */
export async function emptyStart(program: string, rounds: number): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    samples.push(await timed(() => Bun.spawn([program, "version"], { stdio: ["ignore", "ignore", "ignore"] }).exited));
  }
  return percentile(samples, 0.5);
}

export async function answered(url: string): Promise<void> {
  for (;;) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      await Bun.sleep(1);
    }
  }
}

export function freePort(): number {
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port ?? 0;
}
