import type { ApprovalStatus } from "../contract/approvals/approval.ts";
import type { SessionStatus } from "../contract/sessions/turn.ts";

/** What people read for the status of a session, on the page and in the terminal. */
export const SESSION_WORDS: Record<SessionStatus, string> = {
  idle: "idle",
  queued: "queued",
  running: "running",
  awaiting_permission: "needs approval",
  complete: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** The same for a request. */
export const APPROVAL_WORDS: Record<ApprovalStatus, string> = {
  pending: "pending",
  allowed: "allowed",
  denied: "denied",
  timed_out: "timed out",
  abandoned: "abandoned",
};

/** An amount in US dollars; small ones to a hundredth of a cent. */
export function costText(amount: number): string {
  return amount === 0 ? "–" : `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}
