import { and, eq, sql } from "drizzle-orm";
import type { ApprovalHead, LostConnection } from "../../approvals.ts";
import { heldByGone } from "../servers.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { approvals } from "../tables.ts";
import { head } from "./approval-head.ts";

export type HeldApprovalQueries = ReturnType<typeof heldApprovalQueries>;

/**
 * Queries on which server holds a pending approval: for a child that waits, or, with a time limit, for one that is
 * away.
 */
export function heldApprovalQueries(orm: Orm, isAlone: boolean) {
  const at = sql.placeholder;
  const isPending = sql`status = 'pending'`;
  const isLeftBehind = heldByGone(isAlone);
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
  const take = orm
    .update(approvals)
    .set({ heldBy: given("serverId", approvals.heldBy), heldUntil: given("until", approvals.heldUntil) })
    .where(and(isPending, isLeftBehind))
    .returning({ id: approvals.id })
    .prepare();
  const leftBehind = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(isPending, isLeftBehind))
    .limit(1)
    .prepare();
  const unheld = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(eq(approvals.id, at("id")), isPending, eq(approvals.heldBy, at("heldBy")), sql`held_until IS NOT NULL`))
    .prepare();

  return {
    /** Records that a later request asks about the same call; an allow is now for that one. */
    setAsker: (id: string, asker: string | null): void => void setAsker.run({ id, asker }),
    holdIfPending: (id: string, heldBy: string): ApprovalHead | undefined => hold.get({ id, heldBy }),
    /** Does nothing if another request has taken the approval over meanwhile. */
    releaseIfPending: (lost: LostConnection, heldBy: string, until: number): void =>
      void release.run({ ...lost, heldBy, until }),
    isAnyLeftBehind: (serverId: string, now: number): boolean => leftBehind.get({ serverId, now }) !== undefined,
    takeOver: (serverId: string, until: number, now: number): string[] =>
      take.all({ serverId, until, now }).map(({ id }) => id),
    /** Returns whether this server still waits for the child to reconnect. */
    isExpectedBack: (id: string, heldBy: string): boolean => unheld.get({ id, heldBy }) !== undefined,
  };
}
