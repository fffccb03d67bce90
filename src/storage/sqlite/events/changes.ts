import type { Database } from "bun:sqlite";
import { and, asc, eq, gt, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Change } from "../../../contract/change.ts";
import type { Orm } from "../statements/orm.ts";
import { changes } from "../tables.ts";

export type ChangeQueries = ReturnType<typeof changeQueries>;

export function changeQueries(orm: Orm, sqlite: Database) {
  // Every request and every decision runs it, so it goes around Drizzle and RETURNING, whose overhead would be
  // measurable.
  const insert = sqlite.query<never, [string, string, string, string, number]>(
    "INSERT INTO changes (kind, owner, session_id, subject_id, at) VALUES (?, ?, ?, ?, ?)",
  );
  const oldest = orm.select({ at: changes.at }).from(changes).orderBy(asc(changes.id)).limit(1).prepare();
  const newest = orm.select({ id: sql<number | null>`max(id)` }).from(changes).prepare();

  return {
    append: (change: Omit<Change, "id">): Change => {
      const { kind, owner, sessionId, subjectId, at } = change;
      const id = Number(insert.run(kind, owner, sessionId, subjectId, at).lastInsertRowid);
      return { id, ...change };
    },
    newestId: (): number => newest.get()?.id ?? 0,
    /** Returns changes in order, beginning after `cursor`; of one owner, or of all. */
    listAfter: (cursor: number, owner: string | undefined, limit: number): Change[] =>
      orm
        .select()
        .from(changes)
        .where(and(gt(changes.id, cursor), ...ofOwner(owner)))
        .orderBy(asc(changes.id))
        .limit(limit)
        .all(),
    oldestAt: (): number | undefined => oldest.get()?.at,
    /** Looks at the `limit` oldest changes and deletes those before `before`; returns how many. */
    removeBefore: (before: number, limit: number): number => {
      const first = orm.select({ id: changes.id }).from(changes).orderBy(asc(changes.id)).limit(limit);
      const old = and(inArray(changes.id, first), lt(changes.at, before));
      return orm.delete(changes).where(old).returning({ id: changes.id }).all().length;
    },
  };
}

/**
 * SQLite uses the partial index only if the condition has its exact wording. The index leaves out the operator, because
 * nobody lists the operator's changes alone.
 */
function ofOwner(owner: string | undefined): SQL[] {
  if (owner === undefined) return [];
  return owner === "operator" ? [eq(changes.owner, owner)] : [eq(changes.owner, owner), sql`owner <> 'operator'`];
}
