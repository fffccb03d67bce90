import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Visiting a directory with more entries takes too long while a call waits. */
const MAX_ENTRIES = 2_000;

/**
 * Whether a sought file lies below the directory, or the directory has too many entries to tell. Links are not
 * followed.
 */
export function mayLieBelow(directory: string, isSought: (path: string) => boolean): boolean {
  const waiting = [directory];
  let left = MAX_ENTRIES;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = entriesOf(at);
    if (!entries) return true;
    left -= entries.length;
    if (left < 0) return true;
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (isSought(path)) return true;
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return false;
}

/** The entries; `undefined` if the directory can't be read, so it may hold anything. */
function entriesOf(directory: string): Dirent[] | undefined {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
