import type { MadeDecision } from "../../../contract/change.ts";
import type { ApprovalHead, ApprovalOutcome } from "../../approvals.ts";
import { abandoned, approvalChange, isDue, resolvedEvent, timedOut } from "../../record/approval-record.ts";
import type { ActivityQueries } from "../activity/activity.ts";
import type { Chain } from "../audit/chain.ts";
import type { ChangeQueries } from "../events/changes.ts";
import type { TurnQueries } from "../turns/turns.ts";
import type { Announce } from "../writer.ts";
import type { ApprovalQueries, JustSettled, SettleGuard } from "./approvals.ts";

type SettleNeed = {
  approvals: ApprovalQueries;
  turns: TurnQueries;
  changes: ChangeQueries;
  chain: Chain;
  activity: ActivityQueries;
  onSettled: () => void;
};

export type Settle = ReturnType<typeof createSettle>;

/**
 * Every way in which an approval ends, inside a transaction. All of them go through `settle`, and the first one wins.
 */
export function createSettle({ approvals, turns, changes, chain, activity, onSettled }: SettleNeed) {
  /** Returns `undefined` if the approval was already settled or doesn't exist. */
  function settle(
    announce: Announce,
    id: string,
    outcome: ApprovalOutcome,
    guard?: SettleGuard,
  ): ApprovalHead | undefined {
    const link = chain.next("decisions", outcome.resolvedAt);
    const settled = approvals.settleIfPending(id, { ...outcome, auditSeq: link.seq }, guard);
    if (!settled) return undefined;
    chain.decided(link, settled, outcome);
    activity.decided(settled, outcome);
    onSettled();
    if (settled.askedIn !== settled.sessionId) {
      turns.countRequest(settled.askedIn, outcome.status);
      // The decision lets the child continue, so its silence counts from now.
      turns.appendEventsIfRunning(settled.askedIn, [resolvedEvent(settled, outcome)], outcome.resolvedAt);
    }
    const change = changes.append(approvalChange("approval_resolved", settled, outcome.resolvedAt));
    announce({ ...change, decision: toldOf(settled, outcome) });
    return settled;
  }

  function expireIfDue(announce: Announce, id: string, now: number): ApprovalHead | undefined {
    const asked = approvals.head(id);
    return asked && isDue(asked, now) ? settle(announce, id, timedOut(asked, now)) : undefined;
  }

  return {
    settle,
    expireIfDue,
    /** Ends a request whose child is gone, so nobody waits for the answer. */
    abandon(announce: Announce, id: string, reason: string, now: number): void {
      if (!expireIfDue(announce, id, now)) settle(announce, id, abandoned(reason, now));
    },
  };
}

/** The decision as it is broadcast: with the answer for the child, unless the input is long or was edited. */
function toldOf(settled: JustSettled, { responseMessage, updatedInput, interrupt }: ApprovalOutcome): MadeDecision {
  const { status, createdAt, resolvedAt, resolvedBy, deliveredAt, asker } = settled;
  const decision = { status, createdAt, resolvedAt, resolvedBy };
  const input = settled.input ?? (status === "allowed" ? undefined : {});
  if (!input || updatedInput !== null) return decision;
  return { ...decision, answer: { input, responseMessage, interrupt, deliveredAt, asker } };
}
