import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";
import type { ApprovalRow } from "../../approvals.ts";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals, callOutlines } from "../tables.ts";

/** SQLite uses the partial index only if the condition has the index's exact wording. */
const isLarge = sql`status <> 'pending' AND octet_length(input) + coalesce(octet_length(updated_input), 0) > 4096`;
/**
 * True if nobody needs the input any more. Only an undelivered allow does, while its turn runs; a claude started by
 * hand may come for its answer at any time.
 */
const isOver = sql`(delivered_at IS NOT NULL OR status <> 'allowed' OR
  (asked_in <> session_id AND asked_in NOT IN (SELECT id FROM turns WHERE status = 'running')))`;

export type LargeApprovalQueries = ReturnType<typeof largeApprovalQueries>;

/** Removes large inputs of decided requests, in steps, when space is short. */
export function largeApprovalQueries(orm: Orm) {
  const at = sql.placeholder;
  const large = orm
    .select({
      id: approvals.id,
      isBuiltin: approvals.isBuiltin,
      bytes: sql<number>`octet_length(input) + coalesce(octet_length(updated_input), 0)`,
    })
    .from(approvals)
    .where(
      and(
        eq(approvals.owner, at("owner")),
        lt(approvals.resolvedAt, at("before")),
        isLarge,
        isOver,
        // Only decisions in the chain, where the removal is recorded.
        sql`audit_seq IS NOT NULL`,
      ),
    )
    .orderBy(asc(approvals.resolvedAt))
    .limit(at("limit"))
    .prepare();

  return {
    /**
     * Lists one owner's decided requests with large inputs that nobody needs, decided before `before`, oldest first; as
     * many as one step may process.
     */
    listLarge: (owner: string, before: number, limit: number): Pick<ApprovalRow, "id" | "isBuiltin">[] =>
      inOneStep(large.all({ owner, before, limit })),
    /** Replaces the inputs, and the edited inputs, with `{}`, and removes the outlines that were made of them. */
    cutInputs: (ids: string[], cutAt: number): void => {
      orm
        .update(approvals)
        .set({
          input: {},
          updatedInput: sql`CASE WHEN updated_input IS NULL THEN NULL ELSE '{}' END`,
          inputCutAt: cutAt,
        })
        .where(inArray(approvals.id, ids))
        .run();
      orm.delete(callOutlines).where(inArray(callOutlines.id, ids)).run();
    },
  };
}
