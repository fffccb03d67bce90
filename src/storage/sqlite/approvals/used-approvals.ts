import { and, asc, eq, sql } from "drizzle-orm";
import type { ApprovalHead, ApprovalRow, Interruption } from "../../approvals.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { approvals } from "../tables.ts";
import { head } from "./approval-head.ts";

export type UsedApprovalQueries = ReturnType<typeof usedApprovalQueries>;

/** What happens after a decision: the child gets it, its call has a result, or the denial ends the turn. */
export function usedApprovalQueries(orm: Orm) {
  const at = sql.placeholder;
  const deliver = orm
    .update(approvals)
    .set({ deliveredAt: given("deliveredAt", approvals.deliveredAt) })
    .where(and(eq(approvals.id, at("id")), sql`status <> 'pending'`, sql`delivered_at IS NULL`))
    .returning(head)
    .prepare();
  const withoutResult = orm
    .select({ id: approvals.id, status: approvals.status })
    .from(approvals)
    .where(
      and(
        eq(approvals.askedIn, at("turnId")),
        eq(approvals.toolUseId, at("toolUseId")),
        sql`result_at IS NULL AND asked_in <> session_id`,
      ),
    )
    // If several approvals have the call's id, the allowed one is the one that ran.
    .orderBy(sql`status <> 'allowed'`, asc(approvals.id))
    .limit(1)
    .prepare();
  const setResult = orm
    .update(approvals)
    .set({ resultAt: given("resultAt", approvals.resultAt) })
    .where(eq(approvals.id, at("id")))
    .prepare();
  const interrupting = orm
    .select({ responseMessage: approvals.responseMessage, resolvedBy: approvals.resolvedBy })
    .from(approvals)
    .where(and(eq(approvals.askedIn, at("turnId")), sql`interrupt = 1`))
    .orderBy(asc(approvals.id))
    .limit(1)
    .prepare();

  return {
    /** Returns the first denial in this turn that interrupts it. */
    interruption: (turnId: string): Interruption | undefined => interrupting.get({ turnId }),
    /** Marks a decision as delivered; `undefined` if it already was, or doesn't exist. */
    deliverIfUndelivered: (id: string, deliveredAt: number): ApprovalHead | undefined =>
      deliver.get({ id, deliveredAt }),
    /** Assigns a call's result to the oldest of its approvals that has none yet, and returns that approval. */
    takeResult: (
      call: { turnId: string; toolUseId: string },
      resultAt: number,
    ): Pick<ApprovalRow, "id" | "status"> | undefined => {
      const found = withoutResult.get(call);
      if (found) setResult.run({ id: found.id, resultAt });
      return found;
    },
  };
}
