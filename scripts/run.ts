import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..");

/** Runs a command and returns its standard output; if it fails, throws with all its output. */
export function run(command: string, ...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([command, ...args], { cwd: ROOT, stdin: "ignore" });
  if (exitCode === 0) return stdout.toString();
  throw new Error(`${command} ${args.join(" ")} failed (${exitCode}):\n${stdout}${stderr}`);
}
