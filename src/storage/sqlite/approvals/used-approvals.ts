import { and, asc, eq, sql } from "drizzle-orm";
import type { ApprovalHead, ApprovalRow, Interruption } from "../../approvals.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { approvals } from "../tables.ts";
import { head } from "./approval-head.ts";

export type UsedApprovalQueries = ReturnType<typeof usedApprovalQueries>;

/** What becomes of a decision: it is handed to its child, its call has a result, or its turn ends with it. */
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
    // A call that ran was allowed, whatever became of others of the same id.
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
    /** The first denial in this turn that was to end it. */
    interruption: (turnId: string): Interruption | undefined => interrupting.get({ turnId }),
    /** Notes that a decision was handed over; `undefined` when it was before, or there is none. */
    deliverIfUndelivered: (id: string, deliveredAt: number): ApprovalHead | undefined =>
      deliver.get({ id, deliveredAt }),
    /** Of the approvals of a call whose result has come, the oldest that has none yet. */
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
