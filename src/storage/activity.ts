import type { ApprovalOutcome } from "./approvals.ts";
import type { TurnEnd } from "./turns.ts";

/** How a request or a turn ended; or `unasked`: a call ran although Plexus had not allowed it, where none may. */
export type ActivityOutcome = ApprovalOutcome["status"] | TurnEnd["status"] | "unasked";

/** Equal things that happened, added up. */
export type ActivitySum = {
  outcome: ActivityOutcome;
  /** Who decided, with all rules as one; of anything but a decision it is empty. */
  by: string;
  /** How long the requests had waited. */
  waitStep: number;
  count: number;
  costUsd: number;
  inputTokens: number;
  outputTokens: number;
};

/** What happened in one session; it may be deleted by now. */
export type SessionActivity = {
  sessionId: string;
  sessionName: string;
  owner: string;
  decisions: number;
  /** Those of the decisions that rules made, built-in ones too. */
  byRules: number;
  turns: number;
  failedTurns: number;
  costUsd: number;
};

/** A session with a budget, and what it has spent of it. */
export type BudgetRow = { sessionId: string; sessionName: string; owner: string; spentUsd: number; maxUsd: number };

/** Hours, counted from the beginning of 1970, the last one not among them. */
export type Hours = { from: number; to: number };

/**
 * What was decided and what turns have cost, by the hour: kept with each decision and each end of a turn, in the same
 * transaction, so that a report reads sums. Without an owner, everybody's.
 */
export type ActivityStorage = {
  sums(owner: string | undefined, hours: Hours): Promise<ActivitySum[]>;
  sessions(owner: string | undefined, hours: Hours): Promise<SessionActivity[]>;
  /** What is going on right now. */
  present(owner: string | undefined): Promise<{
    pending: number;
    oldestPendingAt: number | null;
    running: number;
    queued: number;
  }>;
  /** The sessions that have used most of their budgets, the fullest first. */
  budgets(owner: string | undefined, limit: number): Promise<BudgetRow[]>;

  /** Forgets up to `limit` sums of hours that ended before `before`; returns how many. */
  removeBefore(before: number, limit: number): Promise<number>;
};
