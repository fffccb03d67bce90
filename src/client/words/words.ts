import type { Approval, ApprovalStatus } from "../../contract/approvals/approval.ts";
import type { TranscriptHit } from "../../contract/sessions/transcript-hit.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import { visibleText } from "../../contract/text/visible-text.ts";
import type { RequestEnd } from "../inbox.ts";
import { decidedBy, decidedByWords } from "./decided-by.ts";

/** The words for the status of a session, on the page and in the terminal. */
export const SESSION_WORDS: Record<SessionStatus, string> = {
  idle: "idle",
  queued: "queued",
  running: "running",
  awaiting_permission: "needs approval",
  complete: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** The words for the status of a request. */
export const APPROVAL_WORDS: Record<ApprovalStatus, string> = {
  pending: "pending",
  allowed: "allowed",
  denied: "denied",
  timed_out: "timed out",
  abandoned: "abandoned",
};

const EVENT_WORDS: Record<TranscriptHit["type"], string> = {
  start: "Prompt",
  content: "Message",
  thinking: "Thinking",
  tool_use: "Call",
  tool_result: "Result",
  approval_requested: "Request",
  approval_resolved: "Decision",
  complete: "End",
  error: "Error",
  passthrough: "Subagent",
};

/** Says in what a search of a transcript has found its text; a call goes by its tool. */
export function hitWords({ type, tool_name }: TranscriptHit): string {
  return tool_name === undefined ? EVENT_WORDS[type] : visibleText(tool_name);
}

/** Names one request by its call, several by their number. */
export function callWords(approvals: Pick<Approval, "tool_name" | "session_name">[]): string {
  const [only, ...others] = approvals;
  if (!only || others.length > 0) return `${approvals.length} requests`;
  return `${visibleText(only.tool_name)} of ${only.session_name}`;
}

/** Says how a request ended that somebody was about to deny; follows its call. */
export function endedFirstWords({ status, by }: Pick<RequestEnd, "status" | "by">): string {
  const isDecided = status === "allowed" || status === "denied";
  const end = isDecided ? `${APPROVAL_WORDS[status]} by ${decidedByWords(decidedBy(by))}` : APPROVAL_WORDS[status];
  return `was not denied by you: ${end} before`;
}

/** Formats an amount in US dollars; small ones to a hundredth of a cent. */
export function costText(amount: number): string {
  return amount === 0 ? "–" : `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}
