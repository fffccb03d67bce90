import type { Change } from "../../contract/change.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { ApprovalRow } from "../approvals.ts";
import type { SessionRow } from "../sessions.ts";
import type { OutputResult, ToolUseEvent, TurnRow } from "../turns.ts";
import type { UnaskedCallRow } from "../unasked-calls.ts";

/** How a result is accounted for: by a decision, by nothing, or not at all although it had to be. */
type CallAccount = { kind: "approval"; approvalId: string } | { kind: "none" } | { kind: "unasked" };

/**
 * Ties a result in a child's output to the decision on its call. An allow accounts for one result: were the same call
 * run twice, the second one would be unasked. `approval` is the oldest of the call that has no result yet.
 */
export function accountOf(
  { is_error, isRefused }: OutputResult,
  approval: Pick<ApprovalRow, "id" | "status"> | undefined,
  mustAsk: boolean,
): CallAccount {
  // What was not allowed, and fails, is the refusal that its child was told.
  if (approval && (approval.status === "allowed" || is_error)) return { kind: "approval", approvalId: approval.id };
  return mustAsk && !isRefused ? { kind: "unasked" } : { kind: "none" };
}

export function resultEvent(result: OutputResult, account: CallAccount): TurnEvent {
  const { type, tool_use_id, output, is_error } = result;
  const event = { type, tool_use_id, output, is_error };
  if (account.kind === "approval") return { ...event, approval_id: account.approvalId };
  return account.kind === "unasked" ? { ...event, approval_id: null, unasked: true } : { ...event, approval_id: null };
}

export function unaskedCall(
  id: string,
  call: { toolUseId: string; toolUse: ToolUseEvent | undefined; turn: TurnRow; session: SessionRow; at: number },
): UnaskedCallRow {
  const { toolUseId, toolUse, turn, session, at } = call;
  return {
    id,
    turnId: turn.id,
    sessionId: session.id,
    sessionName: session.name,
    owner: session.owner,
    toolName: toolUse?.tool_name ?? "",
    toolUseId,
    input: toolUse?.input ?? {},
    supervision: session.config?.supervision ?? "inherit",
    at,
  };
}

/** Who is told of it: where settings of the user and the project apply, it is what was wanted. */
export function unaskedChange({
  id,
  owner,
  sessionId,
  supervision,
  at,
}: UnaskedCallRow): Omit<Change, "id"> | undefined {
  return supervision === "inherit" ? undefined : { kind: "unasked_call", owner, sessionId, subjectId: id, at };
}
