import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findChildProcess } from "../../claude/launch/launch.ts";
import type { ProcessIdentity } from "../../claude/process/processes.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { TurnRow } from "../../storage/turns.ts";

/**
 * The process that a turn was started with; it may have ended. If the last server was killed before it stored the pid,
 * the child is found by the mark in its environment. Without either, the child was never started.
 */
export function processOf({ pid, processStart }: TurnRow, dir: string): ProcessIdentity | undefined {
  return pid !== null && processStart !== null ? { pid, startTime: processStart } : findChildProcess(dir);
}

/** Removes the directories of turns that are over. */
export function removeStrayDirs(turnsDir: string, isKnown: (turnId: string) => boolean): void {
  for (const name of directoriesIn(turnsDir)) {
    if (!isKnown(name)) rmSync(join(turnsDir, name), { recursive: true, force: true });
  }
}

function directoriesIn(turnsDir: string): string[] {
  try {
    return readdirSync(turnsDir);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    // No child was ever started here.
    if (code === "ENOENT") return [];
    const advice = "Remove it, or give it to the user that runs Plexus.";
    throw new AppError("storage_unavailable", `The directory ${turnsDir} can't be read (${code ?? cause}). ${advice}`, {
      cause,
    });
  }
}
