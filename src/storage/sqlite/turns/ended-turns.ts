import { and, asc, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { turnEvents, turns } from "../tables.ts";

const isOver = sql`status <> 'running' AND status <> 'queued'`;

/** Deletes ended turns in steps: one turn may have a hundred thousand events, or events of megabytes. */
export function endedTurnQueries(orm: Orm) {
  const at = sql.placeholder;
  const lastEvents = orm
    .select({ seq: turnEvents.seq, bytes: sql<number>`octet_length(event)` })
    .from(turnEvents)
    .where(eq(turnEvents.turnId, at("turnId")))
    .orderBy(desc(turnEvents.seq))
    .limit(at("limit"))
    .prepare();

  /** Deletes events from the end, so that the rest is still numbered from 0 without a gap. */
  function removeSomeOf(turnId: string, limit: number): number {
    const last = lastEvents.all({ turnId, limit });
    const fitting = inOneStep(last);
    const from = fitting.at(-1)?.seq ?? 0;
    orm
      .delete(turnEvents)
      .where(and(eq(turnEvents.turnId, turnId), gte(turnEvents.seq, from)))
      .run();
    const bytes = fitting.reduce((sum, event) => sum + event.bytes, 0);
    const left = { eventCount: from, eventBytes: sql`event_bytes - ${bytes}` };
    if (from > 0) orm.update(turns).set(left).where(eq(turns.id, turnId)).run();
    else orm.delete(turns).where(eq(turns.id, turnId)).run();
    return fitting.length + 1;
  }

  /** Deletes the oldest turns first, until `limit` rows are gone. */
  function removeSome(which: SQL | undefined, limit: number): number {
    const found = orm
      .select({ id: turns.id, bytes: sql<number>`0` })
      .from(turns)
      .where(and(isOver, which))
      .orderBy(asc(turns.endedAt))
      .limit(limit)
      .all();
    let removed = 0;
    for (const { id } of found) {
      if (removed >= limit) break;
      removed += removeSomeOf(id, limit - removed);
    }
    return removed;
  }

  return {
    /**
     * Deletes turns that ended before `before`, about `limit` rows in all; returns 0 when nothing is left to delete.
     */
    removeEndedBefore: (before: number, limit: number): number => removeSome(lt(turns.endedAt, before), limit),
    removeEndedOfOwner: (owner: string, before: number, limit: number): number =>
      removeSome(and(eq(turns.owner, owner), lt(turns.endedAt, before)), limit),
    removeEndedOf: (sessionId: string, limit: number): number => removeSome(eq(turns.sessionId, sessionId), limit),
  };
}
