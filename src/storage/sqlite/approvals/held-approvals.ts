import { and, eq, sql } from "drizzle-orm";
import type { ApprovalHead, LostConnection } from "../../approvals.ts";
import type { Orm } from "../database.ts";
import { given } from "../parameters.ts";
import { approvals } from "../tables.ts";
import { head } from "./approval-head.ts";

export type HeldApprovalQueries = ReturnType<typeof heldApprovalQueries>;

/** Which server holds a pending approval for a child that waits, and until when a child that is away is expected. */
export function heldApprovalQueries(orm: Orm) {
  const at = sql.placeholder;
  const isPending = sql`status = 'pending'`;
  const setAsker = orm
    .update(approvals)
    .set({ asker: given("asker", approvals.asker) })
    .where(eq(approvals.id, at("id")))
    .prepare();
  const hold = orm
    .update(approvals)
    .set({ heldBy: given("heldBy", approvals.heldBy), heldUntil: null })
    .where(and(eq(approvals.id, at("id")), isPending))
    .returning(head)
    .prepare();
  const release = orm
    .update(approvals)
    .set({ heldUntil: given("until", approvals.heldUntil) })
    .where(and(eq(approvals.id, at("id")), isPending, eq(approvals.heldBy, at("heldBy")), sql`asker IS ${at("asker")}`))
    .prepare();
  const releaseOthers = orm
    .update(approvals)
    .set({ heldUntil: given("until", approvals.heldUntil) })
    .where(and(isPending, sql`held_by IS NOT ${at("heldBy")}`))
    .prepare();
  const unheld = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(eq(approvals.id, at("id")), isPending, sql`(held_by IS NULL OR held_until IS NOT NULL)`))
    .prepare();

  return {
    /** The same call was asked about again: from now on an allow is for that request. */
    setAsker: (id: string, asker: string | null): void => void setAsker.run({ id, asker }),
    holdIfPending: (id: string, heldBy: string): ApprovalHead | undefined => hold.get({ id, heldBy }),
    /** Where another request has come for it meanwhile, that one holds it. */
    releaseIfPending: (lost: LostConnection, heldBy: string, until: number): void =>
      void release.run({ ...lost, heldBy, until }),
    releaseHeldByOthers: (heldBy: string, until: number): void => void releaseOthers.run({ heldBy, until }),
    isPendingUnheld: (id: string): boolean => unheld.get({ id }) !== undefined,
  };
}
