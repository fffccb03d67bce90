import type { Database } from "bun:sqlite";
import { fitting } from "../../contract/text/fit.ts";

/** Pages that are given back in one go: decisions wait for it. */
const PAGES_AT_ONCE = 64;
/** What one step of forgetting may remove at the most; the first thing always may. */
const MAX_STEP_BYTES = 2 * 1024 * 1024;

/** How much of the disk the database uses, and gives back. */
export function spaceQueries(sqlite: Database) {
  const figure = (pragma: string): number =>
    Object.values(sqlite.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0;
  return {
    /** What is in use; free pages are used again, or given back. */
    usedBytes: (): number => (figure("page_count") - figure("freelist_count")) * figure("page_size"),
    /** Gives some free pages back to the file system; `false` when there are none, or this database never does. */
    giveBackSome: (): boolean => {
      const before = figure("freelist_count");
      if (before === 0) return false;
      sqlite.query(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`).all();
      return figure("freelist_count") < before;
    },
  };
}

/** As many, from the front, as one step may remove. */
export function inOneStep<T extends { bytes: number }>(found: T[]): T[] {
  return fitting(found, MAX_STEP_BYTES, ({ bytes }) => bytes);
}
