import type { Approval, PermitAnswer, ToolRequestEvent } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { type JsonObject, seconds } from "../../contract/values.ts";
import type { ApprovalRow } from "../../storage/approvals.ts";

/**
 * Every CLI version takes an echoed input of up to this size. For a larger one, `{}` has the same meaning: run the
 * original input.
 */
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

/** The event for a change of an approval; `undefined` for `approval_resolved` while the approval is pending. */
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

/** The answer for the child. Only a row with status `allowed` produces an allow. */
export function toPermitAnswer(row: AnsweredRow): PermitAnswer {
  switch (row.status) {
    case "allowed":
      // The edited input is gone, and `{}` would run the original input instead.
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

/** The `updatedInput` of an unedited allow: the input itself, or `{}` if it is long. */
function echoed(input: JsonObject): JsonObject {
  return Buffer.byteLength(JSON.stringify(input)) <= MAX_ECHO_BYTES ? input : {};
}
