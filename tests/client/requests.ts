import type { Approval } from "../../src/contract/approvals/approval.ts";
import type { ChangeEvent } from "../../src/contract/change.ts";

/** Ids grow with time, as the server's do. */
export const idOf = (number: number) => `id-${String(number).padStart(4, "0")}`;

export function approval(number: number): Approval {
  return {
    id: idOf(number),
    session_id: "session",
    session_name: "worker",
    tool_name: "Bash",
    tool_use_id: null,
    input: { command: `echo ${number}` },
    status: "pending",
    response_message: null,
    updated_input: null,
    created_at: 1_000,
    expires_at: 2_000,
    resolved_at: null,
    resolved_by: null,
  };
}

export const approvals = (count: number) => Array.from({ length: count }, (_, number) => approval(number));

export function requested(number: number): ChangeEvent {
  const { id, input, session_id, session_name, tool_name, tool_use_id, created_at, expires_at } = approval(number);
  const who = { session_id, session_name, tool_name, tool_use_id };
  return {
    type: "approval_requested",
    approval_id: id,
    ...who,
    tool_input: input,
    created_at,
    expires_at,
  };
}

export function resolved(number: number): ChangeEvent {
  return {
    type: "approval_resolved",
    approval_id: idOf(number),
    session_id: "session",
    session_name: "worker",
    tool_name: "Bash",
    tool_use_id: null,
    status: "denied",
    response_message: "no",
    updated_input: null,
    resolved_by: "operator",
    resolved_at: 1_500,
  };
}
