import type { ToldApproval } from "../../contract/approvals/approval.ts";
import { limitIn } from "../../contract/sessions/limit-error.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";

// Texts for `next` that several tools share: constant wording, chosen by the content of the answer.

/** What to do before a session that reached one of its own limits gets more work. */
export const RAISE: Record<NonNullable<ReturnType<typeof limitIn>>, string> = {
  max_budget_usd: "A budget is used up: raise max_budget_usd with claudecode_update first.",
  max_turns: "max_turns was reached: raise it with claudecode_update, or give the next prompt to go on.",
};

const DECIDE = {
  all: "Decide with loopback_respond.",
  question: "Answer it with answers of loopback_respond.",
  readOne: "It is cut: read it with loopback_get first.",
  readSome: "Some are cut (truncated): read those with loopback_get first.",
  toldBefore: "What has told_before is cut, since you were told all of it: loopback_get tells it again.",
  escalated:
    "It is outside your grant: deny it with loopback_respond, or leave it to the operator and call loopback_wait with its id in skip.",
  someEscalated:
    "Those with escalates are outside your grant: deny them, or leave them to the operator and call loopback_wait with their ids in skip.",
};

/**
 * What the caller can do about these requests. It is told to read cut ones first, and not told to allow what it may
 * not.
 */
export function toDecide(approvals: readonly ToldApproval[], decide = DECIDE.all): string {
  const toldBefore = approvals.some(({ told_before }) => told_before) ? [DECIDE.toldBefore] : [];
  const [first, ...others] = approvals;
  if (first && others.length === 0) return [...stepsOfOne(first), ...toldBefore].join(" ");
  const own = approvals.filter(({ escalates }) => !escalates);
  const steps = [
    ...(own.some(isUnread) ? [DECIDE.readSome] : []),
    ...(own.length > 0 ? [decide] : []),
    ...(own.length < approvals.length ? [DECIDE.someEscalated] : []),
  ];
  return [...steps, ...toldBefore].join(" ");
}

function stepsOfOne(approval: ToldApproval): string[] {
  if (approval.escalates) return [DECIDE.escalated];
  const decide = approval.tool_name === "AskUserQuestion" ? DECIDE.question : DECIDE.all;
  return isUnread(approval) ? [DECIDE.readOne, decide] : [decide];
}

function isUnread({ cut_at, told_before }: ToldApproval): boolean {
  return cut_at !== undefined && !told_before;
}

/** The part of an answer that says why a turn ended. */
type Teller = "error" | "its last event";

export const STILL_RUNNING = "Children still run: call loopback_wait.";
export const GIVE_MORE = "Give more work with claudecode_chat.";

/** What to do with a session whose turn ended like this; `undefined` while the turn goes on. */
export function afterEnd(
  { status, error }: { status: SessionStatus; error: string | null },
  teller: Teller = "error",
): string | undefined {
  const limit = limitIn(error);
  if (limit) return RAISE[limit];
  if (status === "failed")
    return `It failed, as ${teller} says. Give it more work with claudecode_chat once that is mended.`;
  if (status === "cancelled") return `It was cancelled. ${GIVE_MORE}`;
  return status === "complete" ? `Judge the result. ${GIVE_MORE}` : undefined;
}
