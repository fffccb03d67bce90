import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Stands in the place of the CLI: it tells its version, or does this. */
export function scriptedWorker(directory: string, does: string): string {
  const path = join(directory, "claude");
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo "2.1.325 (Claude Code)" && exit 0\n${does}\n`);
  chmodSync(path, 0o755);
  return path;
}
