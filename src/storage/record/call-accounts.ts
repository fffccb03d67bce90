import type { Change } from "../../contract/change.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { ApprovalRow } from "../approvals.ts";
import type { SessionRow } from "../sessions.ts";
import type { OutputResult, ToolUseEvent, TurnRow } from "../turns.ts";
import type { UnaskedCallRow } from "../unasked-calls.ts";

/** What accounts for a result: an approval, nothing (none was needed), or nothing although an approval was required. */
type CallAccount = { kind: "approval"; approvalId: string } | { kind: "none" } | { kind: "unasked" };

/**
 * Ties a result in a child's output to the decision on its call. An allow accounts for one result: if the same call ran
 * twice, the second run would be unasked. `approval` is the call's oldest approval without a result.
 */
export function accountOf(
  { is_error, isRefused }: OutputResult,
  approval: Pick<ApprovalRow, "id" | "status"> | undefined,
  mustAsk: boolean,
): CallAccount {
  // If the call was not allowed and its result is an error, the error is the refusal that Plexus sent.
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

/** The change that reports the call; with supervision "inherit" such calls are expected, so there is no change. */
export function unaskedChange({
  id,
  owner,
  sessionId,
  supervision,
  at,
}: UnaskedCallRow): Omit<Change, "id"> | undefined {
  return supervision === "inherit" ? undefined : { kind: "unasked_call", owner, sessionId, subjectId: id, at };
}
