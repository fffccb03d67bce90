import { and, asc, eq, getTableColumns, gt, type SQL, sql } from "drizzle-orm";
import type { ApprovalScope } from "../../approvals.ts";
import type { EndedQuery, EndedTurn, OngoingTurn } from "../../changes.ts";
import type { Orm } from "../statements/orm.ts";
import { changes, sessions, turns } from "../tables.ts";

export type AwaitedQueries = ReturnType<typeof awaitedQueries>;

/** Queries on what somebody who waits is told of. */
export function awaitedQueries(orm: Orm) {
  const { checkpoint: _, prompt: __, ...columns } = getTableColumns(turns);
  // No join: where there are few sessions, SQLite would begin with them.
  const nameOf = sql<string>`(SELECT name FROM sessions WHERE id = turns.session_id)`;
  const isAsking = sql<number>`EXISTS (SELECT 1 FROM loopback_approvals WHERE session_id = turns.session_id AND status = 'pending')`;

  function ongoing(status: SQL, { owner, sessionId }: ApprovalScope, limit: number): OngoingTurn[] {
    return orm
      .select({
        id: turns.id,
        sessionId: turns.sessionId,
        owner: turns.owner,
        status: turns.status,
        startedAt: turns.startedAt,
        spokeAt: turns.spokeAt,
        name: nameOf,
        isAsking: isAsking.mapWith(Boolean),
      })
      .from(turns)
      .where(
        and(
          status,
          owner === undefined ? undefined : eq(turns.owner, owner),
          sessionId === undefined ? undefined : eq(turns.sessionId, sessionId),
        ),
      )
      .orderBy(sql`+${turns.id}`)
      .limit(limit)
      .all();
  }

  return {
    /** The turns that ended after `since`, in order, but for those that are no longer on record. */
    ended: ({ owner, sessionId }: ApprovalScope, { since, reader, limit }: EndedQuery): EndedTurn[] =>
      orm
        .select({ changeId: changes.id, turn: columns, name: sessions.name })
        .from(changes)
        .innerJoin(turns, eq(turns.id, changes.subjectId))
        .innerJoin(sessions, eq(sessions.id, changes.sessionId))
        .where(
          and(
            gt(changes.id, since),
            // Spelled out, so that its indexes are used.
            sql`changes.kind = 'turn_ended'`,
            owner === undefined ? undefined : eq(changes.owner, owner),
            sessionId === undefined ? undefined : eq(changes.sessionId, sessionId),
            reader &&
              sql`NOT EXISTS (SELECT 1 FROM readers WHERE owner = ${reader.owner} AND consumer = ${reader.consumer} AND session_id = ${changes.sessionId} AND position >= ${changes.id})`,
          ),
        )
        .orderBy(asc(changes.id))
        .limit(limit)
        .all(),
    /** The turns that run, then those that are queued, each in the order of their beginning. */
    ongoing: (scope: ApprovalScope, limit: number): OngoingTurn[] => {
      // Two searches, since each has an index of its own.
      const running = ongoing(sql`turns.status = 'running'`, scope, limit);
      return [...running, ...ongoing(sql`turns.status = 'queued'`, scope, limit - running.length)];
    },
    /** Whether a claude that is started by hand was seen since then. */
    isAnySeen: ({ owner, sessionId }: ApprovalScope, since: number): boolean =>
      orm
        .select({ id: sessions.id })
        .from(sessions)
        .where(
          and(
            sql`kind = 'by_hand'`,
            gt(sessions.seenAt, since),
            // Not by the index on owners: one may have thousands that nobody has seen for long.
            owner === undefined ? undefined : sql`+${sessions.owner} = ${owner}`,
            sessionId === undefined ? undefined : eq(sessions.id, sessionId),
          ),
        )
        .limit(1)
        .get() !== undefined,
  };
}
