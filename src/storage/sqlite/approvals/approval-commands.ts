import type {
  ApprovalHead,
  ApprovalOutcome,
  ApprovalStorage,
  DecidedApproval,
  DecidedBy,
  FiledApproval,
  NewApproval,
  PendingLimits,
  Remembered,
  RuleOutcome,
  SettledApproval,
} from "../../approvals.ts";
import { opens } from "../../links.ts";
import {
  approvalChange,
  braked,
  isDue,
  requestedEvent,
  resolvedEvent,
  timedOut,
} from "../../record/approval-record.ts";
import { chainOf } from "../../record/audit-entry.ts";
import type { Judged } from "../../rules.ts";
import type { TokenQueries } from "../access/tokens.ts";
import type { ActivityQueries } from "../activity/activity.ts";
import type { Chain } from "../audit/chain.ts";
import type { ChangeQueries } from "../events/changes.ts";
import { addRule, holds, isRoomFor, record } from "../rules/rule-commands.ts";
import type { RuleQueries } from "../rules/rules.ts";
import type { SessionQueries } from "../sessions/sessions.ts";
import { translated } from "../statements/reads.ts";
import type { TurnQueries } from "../turns/turns.ts";
import type { Announce, Write } from "../writer.ts";
import type { ApprovalQueries, AskedApproval } from "./approvals.ts";
import type { HeldApprovalQueries } from "./held-approvals.ts";
import type { LinkQueries } from "./links.ts";
import type { PendingBounds } from "./pending-bounds.ts";
import type { Settle } from "./settle.ts";
import type { UsedApprovalQueries } from "./used-approvals.ts";

/** After this many denials in a row, the same call is denied without asking anybody. */
const DENIALS_IN_A_ROW = 3;
/** The default decider, without a token, may decide everything. */
const EVERYTHING: DecidedBy = { owner: undefined, token: undefined };
/** At most this many approvals change in one transaction, so that decisions needn't wait for long. */
const BATCH = 500;

type ApprovalCommandsNeed = {
  write: Write;
  approvals: ApprovalQueries;
  held: HeldApprovalQueries;
  used: UsedApprovalQueries;
  turns: TurnQueries;
  sessions: SessionQueries;
  tokens: TokenQueries;
  changes: ChangeQueries;
  chain: Chain;
  activity: ActivityQueries;
  bounds: PendingBounds;
  settle: Settle;
  rules: RuleQueries;
  links: LinkQueries;
  serverId: string;
  now: () => number;
  isAlone: boolean;
};
type ApprovalCommands = Pick<
  ApprovalStorage,
  | "file"
  | "fileDecided"
  | "settleIfPending"
  | "settleByRuleIfPending"
  | "expireDue"
  | "abandonIfPending"
  | "abandonIfUnheld"
  | "deliverUnlessAskedAgain"
  | "holdAgain"
  | "releaseIfPending"
  | "takeOver"
>;

export function approvalCommands(need: ApprovalCommandsNeed): ApprovalCommands {
  const { write, approvals, held, used, turns, sessions, tokens, changes, chain, bounds, settle, rules, serverId } =
    need;
  const { activity, now, isAlone, links } = need;
  let hasTakenOver = false;

  function askedIn({ isInTurn, ...approval }: NewApproval): AskedApproval {
    const turn = isInTurn ? turns.running(approval.sessionId) : undefined;
    return { ...approval, askedIn: turn?.id ?? approval.sessionId, askedSeq: turn?.eventCount ?? null };
  }

  /**
   * Returns the approval that this very request already opened; without a tool_use_id, two equal requests are separate.
   */
  function sameAs(approval: AskedApproval): ApprovalHead | undefined {
    const { toolUseId, askHash, asker } = approval;
    const same = toolUseId === null ? undefined : approvals.findSame({ ...approval, toolUseId, askHash });
    if (!same) return undefined;
    held.setAsker(same.id, asker);
    held.holdIfPending(same.id, serverId);
    return { ...same, asker };
  }

  function file(announce: Announce, asked: NewApproval, limits: PendingLimits, judged: Judged): FiledApproval {
    if (!holds(rules, judged, asked.createdAt)) return { outcome: "stale" };
    const approval = askedIn(asked);
    if (!asked.isInTurn) sessions.noteSeen(asked.sessionId, asked.createdAt);
    const same = sameAs(approval);
    if (same) return { outcome: "same", approval: same };
    const isInTurn = approval.askedIn !== approval.sessionId;
    const denial = isInTurn ? approvals.firstOfDenialsInARow(approval, DENIALS_IN_A_ROW) : undefined;
    if (denial) {
      const outcome = braked(denial.message);
      return { outcome: "braked", approval: create(announce, approval, outcome), message: outcome.responseMessage };
    }
    const tooMany = bounds.admit(asked, limits);
    if (tooMany) return tooMany;
    const filed = approvals.create(approval, serverId);
    record(rules, judged, filed, asked.createdAt);
    if (isInTurn) turns.appendEventsIfRunning(filed.askedIn, [requestedEvent(asked)], filed.createdAt);
    announce(changes.append(approvalChange("approval_requested", filed, filed.createdAt)));
    return { outcome: "filed", approval: filed };
  }

  /** Files a request with its decision; for a built-in rule, nobody is notified. */
  function create(announce: Announce, approval: AskedApproval, decision: RuleOutcome): ApprovalHead {
    const { createdAt } = approval;
    const outcome = whole(decision, createdAt);
    const link = chain.next(chainOf(decision), createdAt);
    const filed = approvals.createDecided(approval, decision, link.seq);
    chain.decided(link, filed, outcome);
    activity.decided(filed, outcome);
    const isInTurn = filed.askedIn !== filed.sessionId;
    if (isInTurn) turns.countRequest(filed.askedIn, decision.isBuiltin ? "builtin" : decision.status);
    if (decision.isBuiltin) return filed;
    if (isInTurn) turns.appendEventsIfRunning(filed.askedIn, [resolvedEvent(filed, outcome)], createdAt);
    announce({ ...changes.append(approvalChange("approval_resolved", filed, createdAt)), decision: filed });
    return filed;
  }

  function fileDecided(announce: Announce, asked: NewApproval, decision: RuleOutcome, judged: Judged): DecidedApproval {
    const { createdAt } = asked;
    if (!holds(rules, judged, createdAt)) return { outcome: "stale" };
    const approval = askedIn(asked);
    if (!asked.isInTurn) sessions.noteSeen(asked.sessionId, createdAt);
    // A request that a built-in rule decides was never pending, so there is none to look for.
    const same = decision.isBuiltin ? undefined : sameAs(approval);
    const settled = same && settleIfPending(announce, same.id, whole(decision, createdAt), undefined);
    if (same && settled?.outcome !== "settled") return { outcome: "same", approval: headIn(settled) ?? same };
    const decided = headIn(settled) ?? create(announce, approval, decision);
    record(rules, judged, decided, createdAt);
    return { outcome: "decided", approval: { ...decided, asker: approval.asker } };
  }

  function settleIfPending(
    announce: Announce,
    id: string,
    outcome: ApprovalOutcome,
    { owner, token, link }: DecidedBy = EVERYTHING,
    remember?: Remembered,
  ): SettledApproval {
    if (tokens.isRevoked(token)) return { outcome: "revoked" };
    // The common case takes one statement: the request is pending and the caller's, without a rule to add or a link to
    // check.
    const decided =
      remember || link !== undefined
        ? undefined
        : settle.settle(announce, id, outcome, { owner, notDueAt: outcome.resolvedAt });
    if (decided) return { outcome: "settled", approval: decided };
    const asked = approvals.head(id);
    if (!asked || (owner !== undefined && asked.owner !== owner)) return { outcome: "unknown" };
    if (isDue(asked, outcome.resolvedAt))
      return settledBefore(settle.settle(announce, id, timedOut(asked, outcome.resolvedAt)) ?? asked);
    if (asked.status !== "pending") return settledBefore(asked);
    if (link !== undefined && !opens(links.get(link), id, outcome)) return { outcome: "not_by_link" };
    const same = remember && rules.sameAs(remember.rule);
    if (remember && !same && !isRoomFor(rules, [remember.rule], remember.most)) return { outcome: "too_many_rules" };
    const settled = settle.settle(announce, id, outcome);
    if (!settled) return { outcome: "unknown" };
    const rule = remember && (same ?? addRule(rules, remember.rule));
    return { outcome: "settled", approval: settled, ...(rule && { rule }) };
  }

  /** Works in batches, because one session may have thousands of requests. */
  async function inBatches<T>(all: T[], work: (announce: Announce, one: T) => void): Promise<void> {
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      await write((announce) => {
        for (const one of batch) work(announce, one);
      });
    }
  }

  return {
    file: (asked, limits, judged) =>
      write((announce) => file(announce, asked, limits, judged)).catch((cause) => {
        bounds.loosen();
        throw cause;
      }),
    fileDecided: (asked, decision, judged) => write((announce) => fileDecided(announce, asked, decision, judged)),
    settleIfPending: (id, outcome, by, remember) =>
      write((announce) => settleIfPending(announce, id, outcome, by, remember)),
    settleByRuleIfPending: (id, outcome, judged) =>
      write((announce) => {
        if (!holds(rules, judged, outcome.resolvedAt)) return { outcome: "stale" } as const;
        const settled = settleIfPending(announce, id, outcome, undefined);
        if (settled.outcome === "settled") record(rules, judged, settled.approval, outcome.resolvedAt);
        return settled;
      }),
    async expireDue(now, limit) {
      // This read needs no transaction, and nearly always nothing is due.
      const due = translated(() => approvals.dueIds(now, limit));
      if (due.length === 0) return 0;
      return write((announce) => due.filter((id) => settle.expireIfDue(announce, id, now)).length);
    },
    abandonIfPending: (ids, reason, now) => inBatches(ids, (announce, id) => settle.abandon(announce, id, reason, now)),
    abandonIfUnheld: (ids, reason, now) =>
      inBatches(ids, (announce, id) => {
        if (held.isExpectedBack(id, serverId)) settle.abandon(announce, id, reason, now);
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
        return held.holdIfPending(id, serverId) ?? asked;
      }),
    releaseIfPending: (lost, until) => write(() => held.releaseIfPending(lost, serverId, until)),
    async takeOver(graceMs) {
      const at = now();
      // A single server takes over orphaned requests only once, at start. The check needs no transaction.
      if ((isAlone && hasTakenOver) || !translated(() => held.isAnyLeftBehind(serverId, at))) return [];
      const taken = await write(() => held.takeOver(serverId, at + graceMs, at));
      hasTakenOver = true;
      return taken;
    },
  };
}

/** Converts a rule's decision to the stored form of any decision. */
function whole({ status, responseMessage, interrupt, resolvedBy }: RuleOutcome, resolvedAt: number): ApprovalOutcome {
  return { status, responseMessage, updatedInput: null, interrupt, resolvedAt, resolvedBy };
}

function headIn(settled: SettledApproval | undefined): ApprovalHead | undefined {
  return settled && "approval" in settled ? settled.approval : undefined;
}

function settledBefore(approval: ApprovalHead): SettledApproval {
  return { outcome: "settled_before", approval };
}
