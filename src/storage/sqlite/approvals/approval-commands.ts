import type {
  ApprovalHead,
  ApprovalStorage,
  FiledApproval,
  NewApproval,
  PendingLimits,
  SettledApproval,
} from "../../approvals.ts";
import { approvalChange, isDue, requestedEvent, timedOut } from "../../record/approval-record.ts";
import type { Chain } from "../audit/chain.ts";
import type { ChangeQueries } from "../events/changes.ts";
import { translated } from "../reads.ts";
import type { TurnQueries } from "../turns/turns.ts";
import type { Announce, Write } from "../writer.ts";
import { type ApprovalQueries, type AskedApproval, decidedHead } from "./approvals.ts";
import type { HeldApprovalQueries } from "./held-approvals.ts";
import type { PendingBounds } from "./pending-bounds.ts";
import type { Settle } from "./settle.ts";
import type { UsedApprovalQueries } from "./used-approvals.ts";

/** So many are given up in one transaction, so that decisions get their turn in between. */
const BATCH = 500;

type ApprovalCommandsNeed = {
  write: Write;
  approvals: ApprovalQueries;
  held: HeldApprovalQueries;
  used: UsedApprovalQueries;
  turns: TurnQueries;
  changes: ChangeQueries;
  chain: Chain;
  bounds: PendingBounds;
  settle: Settle;
  /** Which server this is. */
  instance: string;
};
type ApprovalCommands = Pick<
  ApprovalStorage,
  | "file"
  | "fileDecided"
  | "settleIfPending"
  | "expireDue"
  | "abandonIfPending"
  | "abandonIfUnheld"
  | "deliverUnlessAskedAgain"
  | "holdAgain"
  | "releaseIfPending"
  | "releaseHeldByOthers"
>;

export function approvalCommands(need: ApprovalCommandsNeed): ApprovalCommands {
  const { write, approvals, held, used, turns, changes, chain, bounds, settle, instance } = need;

  function askedIn({ isInTurn, ...approval }: NewApproval): AskedApproval {
    const turn = isInTurn ? turns.running(approval.sessionId) : undefined;
    return { ...approval, askedIn: turn?.id ?? approval.sessionId };
  }

  function file(announce: Announce, asked: NewApproval, limits: PendingLimits): FiledApproval {
    const approval = askedIn(asked);
    const { toolUseId, askHash, asker } = approval;
    // Without an id, two equal requests are two: a decision on one must not run the other.
    const same = toolUseId === null ? undefined : approvals.findSame({ ...approval, toolUseId, askHash });
    if (same) {
      held.setAsker(same.id, asker);
      held.holdIfPending(same.id, instance);
      return { outcome: "same", approval: { ...same, asker } };
    }
    const tooMany = bounds.admit(asked, limits);
    if (tooMany) return tooMany;
    const filed = approvals.create(approval, instance);
    if (filed.askedIn !== filed.sessionId) turns.appendEventsIfRunning(filed.askedIn, [requestedEvent(asked)]);
    announce(changes.append(approvalChange("approval_requested", filed, filed.createdAt)));
    return { outcome: "filed", approval: filed };
  }

  /** In batches: one session may have thousands. */
  async function inBatches<T>(all: T[], work: (announce: Announce, one: T) => void): Promise<void> {
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      await write((announce) => {
        for (const one of batch) work(announce, one);
      });
    }
  }

  return {
    file: (asked, limits) =>
      write((announce) => file(announce, asked, limits)).catch((cause) => {
        bounds.loosen();
        throw cause;
      }),
    fileDecided: (asked, decision) =>
      write(() => {
        const approval = askedIn(asked);
        const link = chain.next("builtin", approval.createdAt);
        approvals.createDecided(approval, decision, link.seq);
        const filed = decidedHead(approval, decision);
        const outcome = { ...decision, updatedInput: null, interrupt: false, resolvedAt: approval.createdAt };
        chain.decided(link, filed, outcome);
        return filed;
      }),
    settleIfPending: (id, outcome, owner) =>
      write((announce): SettledApproval => {
        const asked = approvals.head(id);
        if (!asked || (owner !== undefined && asked.owner !== owner)) return { outcome: "unknown" };
        if (isDue(asked, outcome.resolvedAt))
          return settledBefore(settle.settle(announce, id, timedOut(asked, outcome.resolvedAt)) ?? asked);
        if (asked.status !== "pending") return settledBefore(asked);
        const settled = settle.settle(announce, id, outcome);
        return settled ? { outcome: "settled", approval: settled } : { outcome: "unknown" };
      }),
    async expireDue(now, limit) {
      // Looked for outside of any transaction: nearly always there is none.
      const due = translated(() => approvals.dueIds(now, limit));
      if (due.length === 0) return 0;
      return write((announce) => due.filter((id) => settle.expireIfDue(announce, id, now)).length);
    },
    abandonIfPending: (ids, reason, now) => inBatches(ids, (announce, id) => settle.abandon(announce, id, reason, now)),
    abandonIfUnheld: (ids, reason, now) =>
      inBatches(ids, (announce, id) => {
        if (held.isPendingUnheld(id)) settle.abandon(announce, id, reason, now);
      }),
    deliverUnlessAskedAgain: (id, asker, now) =>
      write(() => {
        const asked = approvals.head(id);
        if (!asked || (asked.status === "allowed" && asked.asker !== asker)) return false;
        const delivered = used.deliverIfUndelivered(id, now);
        if (delivered) chain.delivered(delivered, now);
        return true;
      }),
    holdAgain: (id, sessionId) =>
      write(() => {
        const asked = approvals.head(id);
        if (!asked || (sessionId !== undefined && asked.sessionId !== sessionId)) return undefined;
        return held.holdIfPending(id, instance) ?? asked;
      }),
    releaseIfPending: (lost, until) => write(() => held.releaseIfPending(lost, instance, until)),
    releaseHeldByOthers: (until) =>
      write(() => {
        // The lock of the data dir proves that all others are gone; an engine that several servers share may only take
        // what was held until a moment that has passed.
        held.releaseHeldByOthers(instance, until);
        return [...approvals.pendingIds()];
      }),
  };
}

function settledBefore(approval: ApprovalHead): SettledApproval {
  return { outcome: "settled_before", approval };
}
