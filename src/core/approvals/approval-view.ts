import type { Approval, PermitAnswer, ToolRequestEvent } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { type JsonObject, seconds } from "../../contract/values.ts";
import type { ApprovalRow } from "../../storage/approvals.ts";

/** An echoed input up to this size is safe for every CLI version; above it `{}` means the same: run what was asked. */
const MAX_ECHO_BYTES = 8_000;

export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    session_id: row.sessionId,
    session_name: row.sessionName,
    tool_name: row.toolName,
    tool_use_id: row.toolUseId,
    input: row.input,
    status: row.status,
    response_message: row.responseMessage,
    updated_input: row.updatedInput,
    created_at: seconds(row.createdAt),
    expires_at: seconds(row.expiresAt),
    resolved_at: row.resolvedAt === null ? null : seconds(row.resolvedAt),
    resolved_by: row.resolvedBy,
    ...(row.status !== "pending" && { delivered_at: row.deliveredAt === null ? null : seconds(row.deliveredAt) }),
    ...removedIn(row),
  };
}

export function toToolRequest(row: ApprovalRow): ToolRequestEvent {
  return {
    approval_id: row.id,
    session_name: row.sessionName,
    tool_name: row.toolName,
    tool_input: row.input,
    tool_use_id: row.toolUseId,
  };
}

/** What a change tells of an approval; an approval that is still pending has no resolution to tell. */
export function toChangeEvent(
  kind: "approval_requested" | "approval_resolved",
  row: ApprovalRow,
): ChangeEvent | undefined {
  if (kind === "approval_requested") {
    return {
      type: kind,
      ...toToolRequest(row),
      session_id: row.sessionId,
      created_at: seconds(row.createdAt),
      expires_at: seconds(row.expiresAt),
      ...removedIn(row),
    };
  }
  if (row.resolvedAt === null || row.resolvedBy === null) return undefined;
  return {
    type: kind,
    approval_id: row.id,
    session_id: row.sessionId,
    session_name: row.sessionName,
    tool_name: row.toolName,
    tool_use_id: row.toolUseId,
    status: row.status,
    response_message: row.responseMessage,
    updated_input: row.updatedInput,
    resolved_by: row.resolvedBy,
    resolved_at: seconds(row.resolvedAt),
    ...removedIn(row),
  };
}

function removedIn({ inputCutAt }: ApprovalRow): { input_removed_at?: number } {
  return inputCutAt === null ? {} : { input_removed_at: seconds(inputCutAt) };
}

export type AnsweredRow = Pick<
  ApprovalRow,
  "id" | "status" | "input" | "updatedInput" | "inputCutAt" | "responseMessage" | "resolvedBy" | "interrupt"
>;

/** What the child is told; only a row that says `allowed` ever makes an allow. */
export function toPermitAnswer(row: AnsweredRow): PermitAnswer {
  switch (row.status) {
    case "allowed":
      // `{}` would run what was asked, instead of what was allowed.
      if (row.inputCutAt !== null && row.updatedInput !== null) return EDIT_REMOVED;
      return { behavior: "allow", updatedInput: row.updatedInput ?? echoed(row.input) };
    case "denied": {
      const message = row.responseMessage || `Denied by ${row.resolvedBy}, without a reason. The tool was not run.`;
      return { behavior: "deny", message, ...(row.interrupt && { interrupt: true as const }) };
    }
    case "timed_out":
    case "abandoned":
      return { behavior: "deny", message: row.responseMessage || "Nobody decided. Plexus did not allow the call." };
    case "pending":
      throw new Error(`approval ${row.id} is still pending`);
  }
}

const EDIT_REMOVED: PermitAnswer = {
  behavior: "deny",
  message: "The call was allowed with another input, which was removed to save space since. The tool was not run.",
};

/** What an allow without changes says of the input: the input itself, or `{}` where that is long. */
function echoed(input: JsonObject): JsonObject {
  return Buffer.byteLength(JSON.stringify(input)) <= MAX_ECHO_BYTES ? input : {};
}
