import { ROOT } from "../readme/readme.ts";
import { until } from "../support/until.ts";
import type { Engine } from "./engine.ts";

export type Output = { exitCode: number; stdout: string; stderr: string };

/** The most restrictive options. */
export const LOCKED_UP = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
const HEALTHY_WITHIN_MS = 60_000;

export type Containers = AsyncDisposable & {
  docker(...args: string[]): Promise<Output>;
  /** The same for a command that must succeed. Returns its output. */
  output(...args: string[]): Promise<string>;
  /** Builds the Dockerfile unchanged. The image is removed at the end. */
  build(target: string): Promise<string>;
  /** A name for an image, container or volume that is removed at the end. */
  image(label: string): string;
  container(): string;
  volume(): string;
  start(image: string, ...flags: string[]): Promise<Container>;
};

export type Container = {
  name: string;
  /** The address from outside. */
  url: string;
  exec(...command: string[]): Promise<Output>;
  inspect(format: string): Promise<string>;
};

/** Containers of one test. Nothing of them remains. */
export function useContainers(engine: Engine): Containers {
  const run = `plexus-test-${crypto.randomUUID().slice(0, 8)}`;
  const made = { containers: [] as string[], volumes: [] as string[], images: [] as string[] };

  async function docker(...args: string[]): Promise<Output> {
    const client = Bun.spawn([engine.docker, ...args], {
      cwd: ROOT,
      env: engine.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr] = await Promise.all([client.stdout.text(), client.stderr.text()]);
    return { exitCode: await client.exited, stdout, stderr };
  }

  async function output(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await docker(...args);
    if (exitCode !== 0) throw new Error(`docker ${args.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
    return stdout.trim();
  }

  const image = (label: string) => {
    const name = `${run}-${label}`;
    if (!made.images.includes(name)) made.images.push(name);
    return name;
  };
  const numbered = (names: string[]) => {
    const name = `${run}-${names.length}`;
    names.push(name);
    return name;
  };

  return {
    docker,
    output,
    image,
    container: () => numbered(made.containers),
    volume: () => numbered(made.volumes),
    async build(target) {
      await output("build", "--quiet", "--target", target, "--tag", image(target), ".");
      return image(target);
    },
    async start(image, ...flags) {
      const name = numbered(made.containers);
      await output("run", "--detach", "--name", name, "--publish", "127.0.0.1::4445", ...flags, image);
      const inspect = (format: string) => output("inspect", "--format", format, name);
      await until(
        "the container to be healthy",
        async () => {
          const status = await inspect("{{.State.Status}} {{.State.Health.Status}}");
          if (!status.startsWith("running")) throw new Error(`${status}: ${(await docker("logs", name)).stderr}`);
          return status === "running healthy";
        },
        HEALTHY_WITHIN_MS,
      );
      const address = await output("port", name, "4445");
      return { name, url: `http://${address}`, exec: (...command) => docker("exec", name, ...command), inspect };
    },
    async [Symbol.asyncDispose]() {
      if (made.containers.length > 0) await docker("rm", "--force", "--volumes", ...made.containers);
      if (made.volumes.length > 0) await docker("volume", "rm", "--force", ...made.volumes);
      if (made.images.length > 0) await docker("image", "rm", "--force", ...made.images);
    },
  };
}
