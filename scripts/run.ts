import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..");

/** What the command wrote to its standard output; throws with all that it wrote when it fails. */
export function run(command: string, ...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([command, ...args], { cwd: ROOT, stdin: "ignore" });
  if (exitCode === 0) return stdout.toString();
  throw new Error(`${command} ${args.join(" ")} failed (${exitCode}):\n${stdout}${stderr}`);
}
