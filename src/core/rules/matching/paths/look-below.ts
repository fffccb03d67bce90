import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** A directory with more below it takes too long to look through while a call waits. */
const MAX_ENTRIES = 2_000;

/** Whether a file below the directory is sought, or there is too much below it to know; links are not followed. */
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

/** `undefined` if it can't be read: it may hold anything. */
function entriesOf(directory: string): Dirent[] | undefined {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
