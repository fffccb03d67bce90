import type { Database } from "bun:sqlite";
import { fitting } from "../../contract/text/fit.ts";

/** Pages returned to the file system in one call; decisions wait for it. */
const PAGES_AT_ONCE = 64;
/** The limit on what one deletion step may remove; the first item is always removed. */
const MAX_STEP_BYTES = 2 * 1024 * 1024;

/** Queries on the disk space that the database uses, and its return to the file system. */
export function spaceQueries(sqlite: Database) {
  const figure = (pragma: string): number =>
    Object.values(sqlite.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0;
  return {
    /** Returns the bytes in use; free pages are reused or returned. */
    usedBytes: (): number => (figure("page_count") - figure("freelist_count")) * figure("page_size"),
    /** Returns some free pages to the file system; `false` if there are none, or if this database can't shrink. */
    giveBackSome: (): boolean => {
      const before = figure("freelist_count");
      if (before === 0) return false;
      sqlite.query(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`).all();
      return figure("freelist_count") < before;
    },
  };
}

/** Returns as many items, from the front, as one step may remove. */
export function inOneStep<T extends { bytes: number }>(found: T[]): T[] {
  return fitting(found, MAX_STEP_BYTES, ({ bytes }) => bytes);
}
