import type { Database } from "bun:sqlite";

type MemoryNeed<Row> = {
  sqlite: Database;
  isAlone: boolean;
  read: (id: string) => Row | undefined;
  most: number;
  /** What is large is read each time. */
  isSmall?: (row: Row) => boolean;
};

export type Memory<Row> = ReturnType<typeof createMemory<Row>>;

/**
 * Rows that nearly every request needs, kept until they may be others: whoever changes one here has it forgotten, and
 * where other servers write too, all are forgotten whenever any of them has written. Not for reads within a transaction,
 * which may be undone.
 */
export function createMemory<Row>({ sqlite, isAlone, read, most, isSmall = () => true }: MemoryNeed<Row>) {
  const rows = new Map<string, Row>();
  const writtenByOthers = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  let version = 0;

  /** One of them, or all. */
  function forget(id?: string): void {
    if (id === undefined) rows.clear();
    else rows.delete(id);
  }

  return {
    forget,
    /** Only if it is remembered. */
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
