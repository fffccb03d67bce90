import type { ApprovalOutcome } from "./approvals.ts";
import type { TurnEnd } from "./turns.ts";

/** How a request or a turn ended. `unasked`: a call ran that Plexus had not allowed, in a session where none may. */
export type ActivityOutcome = ApprovalOutcome["status"] | TurnEnd["status"] | "unasked";

/** One group of equal outcomes, summed. */
export type ActivitySum = {
  outcome: ActivityOutcome;
  /** Who decided, with all rules counted as one; empty for anything but a decision. */
  by: string;
  /** The step (see `waitStepOf`) of how long the requests waited. */
  waitStep: number;
  count: number;
  costUsd: number;
  inputTokens: number;
  outputTokens: number;
};

/** Activity of one session, which may have been deleted since. */
export type SessionActivity = {
  sessionId: string;
  sessionName: string;
  owner: string;
  decisions: number;
  /** How many of the decisions rules made, built-in rules included. */
  byRules: number;
  turns: number;
  failedTurns: number;
  costUsd: number;
};

/** A session with a budget, and how much of it is spent. */
export type BudgetRow = { sessionId: string; sessionName: string; owner: string; spentUsd: number; maxUsd: number };

/** Hours since the beginning of 1970; `to` is exclusive. */
export type Hours = { from: number; to: number };

/**
 * Hourly sums of decisions and of what turns cost. Each decision and each end of a turn adds to them in its own
 * transaction, so a report reads only sums. Without an owner, a query covers all owners.
 */
export type ActivityStorage = {
  sums(owner: string | undefined, hours: Hours): Promise<ActivitySum[]>;
  sessions(owner: string | undefined, hours: Hours): Promise<SessionActivity[]>;
  /** What is pending, running and queued right now. */
  present(owner: string | undefined): Promise<{
    pending: number;
    oldestPendingAt: number | null;
    running: number;
    queued: number;
  }>;
  /** The sessions that have spent the largest share of their budgets, largest first. */
  budgets(owner: string | undefined, limit: number): Promise<BudgetRow[]>;

  /** Deletes up to `limit` sums of hours that ended before `before`; returns how many. */
  removeBefore(before: number, limit: number): Promise<number>;
};
