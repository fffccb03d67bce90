import type { Database } from "bun:sqlite";

type MemoryNeed<Row> = {
  sqlite: Database;
  isAlone: boolean;
  read: (id: string) => Row | undefined;
  most: number;
  /** Large rows are not cached. */
  isSmall?: (row: Row) => boolean;
};

export type Memory<Row> = ReturnType<typeof createMemory<Row>>;

/**
 * A cache of rows that nearly every request needs. Whoever changes a row calls `forget`; if other servers write too,
 * any write of theirs clears the cache. Don't use it for reads within a transaction, which may be rolled back.
 */
export function createMemory<Row>({ sqlite, isAlone, read, most, isSmall = () => true }: MemoryNeed<Row>) {
  const rows = new Map<string, Row>();
  const writtenByOthers = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  let version = 0;

  /** Removes one row from the cache, or all. */
  function forget(id?: string): void {
    if (id === undefined) rows.clear();
    else rows.delete(id);
  }

  return {
    forget,
    /** Returns the row only if it is cached. */
    known: (id: string): Row | undefined => rows.get(id),
    get(id: string): Row | undefined {
      const now = isAlone ? 0 : (writtenByOthers.get()?.data_version ?? 0);
      if (now !== version) forget();
      version = now;
      const known = rows.get(id);
      if (known) return known;
      const row = read(id);
      if (row && isSmall(row)) {
        if (rows.size >= most) forget();
        rows.set(id, row);
      }
      return row;
    },
  };
}
