import type { Approval } from "../../src/contract/approvals/approval.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import type { Danger } from "../../src/review/shell/index.ts";

/** A pending request for this call. */
export function requested(tool_name: string, input: JsonObject): Approval {
  return {
    id: "0190a0a0-0000-7000-8000-000000000000",
    session_id: "0190a0a0-0000-7000-8000-000000000001",
    session_name: "worker",
    tool_name,
    tool_use_id: null,
    input,
    status: "pending",
    response_message: null,
    updated_input: null,
    created_at: 0,
    expires_at: 0,
    resolved_at: null,
    resolved_by: null,
  };
}

/** The rules of the dangers, sorted and without duplicates. */
export function rulesOf(dangers: Danger[]): string[] {
  return [...new Set(dangers.map(({ rule }) => rule))].sort();
}
