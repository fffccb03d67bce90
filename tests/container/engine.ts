import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../readme/readme.ts";
import { isRunning } from "../support/processes/processes.ts";

/** The base images of the Dockerfile. */
const BASES = ["oven/bun:1", "debian:bookworm-slim"];
/**
 * A script that sets up an engine and stand-ins for these images on a machine without them. It may lie beside the
 * checkout.
 */
const SPARE = join(ROOT, "../shared/container");
const SPARE_NEEDS = ["dockerd", "debootstrap"];

export type Engine = Disposable & { docker: string; env: Record<string, string | undefined> };
export type NoEngine = { missing: string };

/** A container engine that can build the image: a running one, or one that is started and stopped here. */
export function findEngine(): Engine | NoEngine {
  const running = { docker: Bun.which("docker") ?? "docker", env: { ...process.env, DOCKER_BUILDKIT: "1" } };
  const engine = answers(running) ? { ...running, [Symbol.dispose]: () => {} } : startSpare();
  if ("missing" in engine) return engine;
  const absent = BASES.filter((image) => !run(engine, "image", "inspect", image) && !run(engine, "pull", "-q", image));
  if (absent.length === 0) return engine;
  engine[Symbol.dispose]();
  return { missing: `${absent.join(" and ")} can't be had` };
}

function startSpare(): Engine | NoEngine {
  const up = join(SPARE, "up");
  if (!existsSync(up)) return { missing: "no engine answers (docker info)" };
  if (process.getuid?.() !== 0) return { missing: "no engine answers, and only root may start one" };
  // The program would install them, which a test must not do.
  const absent = SPARE_NEEDS.filter((tool) => Bun.which(tool) === null);
  if (absent.length > 0) return { missing: `no engine answers, and ${absent.join(" and ")} is not installed` };
  const wasThere = spareRuns();
  const say = 'eval "$("$0")" && printf "%s\\n" "$DOCKER_HOST" "$(command -v docker)"';
  const { exitCode, stdout, stderr } = Bun.spawnSync(["bash", "-c", say, up], { stdin: "ignore" });
  const [host, docker] = stdout.toString().trim().split("\n").slice(-2);
  if (exitCode !== 0 || !host || !docker)
    return { missing: `no engine could be started (${stderr.toString().trim()})` };
  return {
    docker,
    env: { ...process.env, DOCKER_HOST: host, DOCKER_BUILDKIT: "1" },
    [Symbol.dispose]: () => void (wasThere || Bun.spawnSync([join(SPARE, "down")])),
  };
}

function spareRuns(): boolean {
  const state = process.env["CONTAINER_STATE"] ?? join(tmpdir(), "plexus-containers");
  const pidFile = join(state, "docker.pid");
  return existsSync(pidFile) && isRunning(Number(readFileSync(pidFile, "utf8")));
}

type Client = Pick<Engine, "docker" | "env">;

function answers(client: Client): boolean {
  return Bun.which("docker") !== null && run(client, "info");
}

function run({ docker, env }: Client, ...args: string[]): boolean {
  return Bun.spawnSync([docker, ...args], { env, stdin: "ignore" }).exitCode === 0;
}
