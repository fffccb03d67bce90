import { and, asc, eq, getTableColumns, gt, type SQL, sql } from "drizzle-orm";
import type { ApprovalScope } from "../../approvals.ts";
import type { EndedQuery, EndedTurn, OngoingTurn } from "../../changes.ts";
import type { Orm } from "../statements/orm.ts";
import { changes, sessions, turns } from "../tables.ts";

export type AwaitedQueries = ReturnType<typeof awaitedQueries>;

/** Queries on what waiting callers need. */
export function awaitedQueries(orm: Orm) {
  const { checkpoint: _, prompt: __, ...columns } = getTableColumns(turns);
  // A subquery, not a join: with few sessions, SQLite would begin a join with them.
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
    /** Returns the turns that ended after `since`, in order, without those whose rows were deleted. */
    ended: ({ owner, sessionId }: ApprovalScope, { since, reader, limit }: EndedQuery): EndedTurn[] =>
      orm
        .select({ changeId: changes.id, turn: columns, name: sessions.name })
        .from(changes)
        .innerJoin(turns, eq(turns.id, changes.subjectId))
        .innerJoin(sessions, eq(sessions.id, changes.sessionId))
        .where(
          and(
            gt(changes.id, since),
            // A literal, so that SQLite uses the partial indexes.
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
    /** Returns running turns, then queued ones, each by start time. */
    ongoing: (scope: ApprovalScope, limit: number): OngoingTurn[] => {
      // Two queries, because each status has its own index.
      const running = ongoing(sql`turns.status = 'running'`, scope, limit);
      return [...running, ...ongoing(sql`turns.status = 'queued'`, scope, limit - running.length)];
    },
    /** Returns whether any claude started by hand was seen since then. */
    isAnySeen: ({ owner, sessionId }: ApprovalScope, since: number): boolean =>
      orm
        .select({ id: sessions.id })
        .from(sessions)
        .where(
          and(
            sql`kind = 'by_hand'`,
            gt(sessions.seenAt, since),
            // The plus sign avoids the index on owners: one owner may have thousands of sessions that were not seen for
            // long.
            owner === undefined ? undefined : sql`+${sessions.owner} = ${owner}`,
            sessionId === undefined ? undefined : eq(sessions.id, sessionId),
          ),
        )
        .limit(1)
        .get() !== undefined,
  };
}
