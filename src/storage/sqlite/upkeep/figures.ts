import { statSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { Orm } from "../statements/orm.ts";
import { approvals, turns } from "../tables.ts";

/** Metrics whose cost doesn't grow with the history: they read pending, queued and running rows along their indexes. */
export function figureQueries(orm: Orm, path: string) {
  const pending = orm
    .select({ count: sql<number>`count(*)`, oldestAt: sql<number | null>`min(created_at)` })
    .from(approvals)
    .where(sql`status = 'pending'`)
    .prepare();
  const running = orm
    .select({ count: sql<number>`count(*)`, events: sql<number>`coalesce(sum(event_count), 0)` })
    .from(turns)
    .where(sql`status = 'running'`)
    .prepare();
  const queued = orm.select({ count: sql<number>`count(*)` }).from(turns).where(sql`status = 'queued'`).prepare();
  return {
    pending: () => pending.get() ?? { count: 0, oldestAt: null },
    /** The number of running turns, and of their events so far. */
    running: () => running.get() ?? { count: 0, events: 0 },
    queued: (): number => queued.get()?.count ?? 0,
    databaseBytes: (): number => sizeOf(path),
    /** Bytes in the write-ahead log: committed, but not yet in the database file. */
    logBytes: (): number => sizeOf(`${path}-wal`),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
