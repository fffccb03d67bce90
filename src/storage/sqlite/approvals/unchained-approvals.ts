import { and, asc, inArray, lt, sql } from "drizzle-orm";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals } from "../tables.ts";

/** While a turn of the session runs, its child may still come back for an answer. */
const isForgettable = sql`status <> 'pending' AND audit_seq IS NULL AND session_id NOT IN (SELECT session_id FROM turns WHERE status = 'running')`;

/** Deletes approvals decided before there was a hash chain, in steps, because an input may be megabytes. */
export function unchainedApprovalQueries(orm: Orm) {
  const at = sql.placeholder;
  const sizes = orm
    .select({ id: approvals.id, bytes: sql<number>`octet_length(input) + coalesce(octet_length(updated_input), 0)` })
    .from(approvals)
    .where(and(isForgettable, lt(approvals.resolvedAt, at("before"))))
    .orderBy(asc(approvals.resolvedAt))
    .limit(at("limit"))
    .prepare();
  const oldest = orm
    .select({ at: sql<number | null>`resolved_at` })
    .from(approvals)
    .where(isForgettable)
    .orderBy(asc(approvals.resolvedAt))
    .limit(1)
    .prepare();

  return {
    oldestUnchainedAt: (): number | undefined => oldest.get()?.at ?? undefined,
    /** Deletes up to `limit` of those decided before `before`, oldest first; returns how many. */
    removeUnchainedBefore: (before: number, limit: number): number => {
      const ids = inOneStep(sizes.all({ before, limit })).map(({ id }) => id);
      if (ids.length > 0) orm.delete(approvals).where(inArray(approvals.id, ids)).run();
      return ids.length;
    },
  };
}
