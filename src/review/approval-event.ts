import type { Approval, RequestContext } from "../contract/approvals/approval.ts";
import type { ChangeEvent } from "../contract/change.ts";

/** The approval that an event announces, in the shape of a list entry. */
export function approvalFromEvent(event: ChangeEvent & { type: "approval_requested" }): Approval {
  return {
    id: event.approval_id,
    session_id: event.session_id,
    session_name: event.session_name,
    tool_name: event.tool_name,
    tool_use_id: event.tool_use_id,
    input: event.tool_input,
    status: "pending",
    response_message: null,
    updated_input: null,
    created_at: event.created_at,
    expires_at: event.expires_at,
    resolved_at: null,
    resolved_by: null,
    ...contextIn(event),
    ...(event.input_removed_at !== undefined && { input_removed_at: event.input_removed_at }),
    ...(event.truncated && { truncated: event.truncated, input_size: event.input_size ?? 0 }),
  };
}

function contextIn({ cwd, dangers, said, agent, plan, real_paths }: RequestContext): RequestContext {
  const all = { cwd, dangers, said, agent, plan, real_paths };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
