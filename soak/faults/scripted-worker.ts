import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Replaces the CLI by a script that prints its version, or runs this command. */
export function scriptedWorker(directory: string, does: string): string {
  const path = join(directory, "claude");
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo "2.1.325 (Claude Code)" && exit 0\n${does}\n`);
  chmodSync(path, 0o755);
  return path;
}
