import { statSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { Orm } from "../statements/orm.ts";
import { approvals, turns } from "../tables.ts";

/** Figures that cost the same however long the history is: they read what is pending, queued or runs, by its index. */
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
    /** The turns that run, and how many events they have by now. */
    running: () => running.get() ?? { count: 0, events: 0 },
    queued: (): number => queued.get()?.count ?? 0,
    databaseBytes: (): number => sizeOf(path),
    /** What is committed, and not yet in the database file. */
    logBytes: (): number => sizeOf(`${path}-wal`),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
