import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Finds the Claude Code CLI: as configured, on PATH, or in the usual places. */
export function findClaude(where: { claude?: string | undefined; path: string; home: string }): string | undefined {
  if (where.claude) return isExecutable(where.claude) ? where.claude : undefined;
  const folders = where.path.split(delimiter).filter(Boolean);
  const usual = [
    join(where.home, ".local", "bin"),
    join(where.home, ".claude", "local"),
    "/usr/local/bin",
    "/opt/homebrew/bin",
  ];
  return [...folders, ...usual].map((folder) => join(folder, "claude")).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
