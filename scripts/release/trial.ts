import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** An emulator is many times slower than a processor. */
const HEALTHY_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 10_000;
const RECHECK_MS = 50;

const Version = z.object({ version: z.string(), commit: z.string().nullable() });
const ServerFile = z.object({ url: z.string() });
export type Expected = z.infer<typeof Version>;

/**
 * Runs an executable as a user would: it prints its version, serves, is healthy, and stops on request. Throws if it
 * doesn't.
 */
export async function tryOut(program: string[], expected: Expected): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "plexus-trial-"));
  try {
    const env = { ...process.env, HOME: home, PLEXUS_DATA_DIR: join(home, "data"), PLEXUS_PORT: "0" };
    const said = Version.parse(JSON.parse(output([...program, "version", "--json"], env)));
    if (said.version !== expected.version || said.commit !== expected.commit) {
      throw new Error(`it says ${JSON.stringify(said)} for ${JSON.stringify(expected)}`);
    }
    await serveAndStop(program, env);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

type Environment = Record<string, string | undefined>;

async function serveAndStop(program: string[], env: Environment): Promise<void> {
  const server = Bun.spawn([...program, "serve"], { env, stdio: ["ignore", "ignore", "pipe"] });
  const log = server.stderr.text();
  try {
    await healthy(program, env, () => server.exitCode);
    server.kill("SIGTERM");
    const exitCode = await Promise.race([server.exited, Bun.sleep(STOPS_WITHIN_MS)]);
    // Windows has no signals, so there the process was just killed.
    if (exitCode !== 0 && process.platform !== "win32") throw new Error(`it ended with ${exitCode} when told to stop`);
  } catch (cause) {
    server.kill("SIGKILL");
    throw new Error(`${cause instanceof Error ? cause.message : cause}; it wrote:\n${await log}`, { cause });
  }
}

/** Repeats the health check: an emulator may take longer than one check waits. */
async function healthy(program: string[], env: Environment, exitCode: () => number | null): Promise<void> {
  const deadline = performance.now() + HEALTHY_WITHIN_MS;
  for (;;) {
    if (exitCode() !== null) throw new Error(`it ended with ${exitCode()} instead of serving`);
    try {
      const { url } = ServerFile.parse(
        JSON.parse(await readFile(join(env["PLEXUS_DATA_DIR"] ?? "", "server.json"), "utf8")),
      );
      // Pass the address: under an emulator, the process can't be identified reliably.
      return void output([...program, "healthcheck", "--url", url], env);
    } catch (cause) {
      if (performance.now() > deadline) throw cause;
      await Bun.sleep(RECHECK_MS);
    }
  }
}

function output(command: string[], env: Environment): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
  return stdout.toString();
}
