import type { Change } from "../../contract/change.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { ApprovalHead, ApprovalOutcome, NewApproval, RuleOutcome } from "../approvals.ts";

/** The turn event for a new request. */
export function requestedEvent({ id, toolName, toolUseId, input }: NewApproval): TurnEvent {
  return { type: "approval_requested", approval_id: id, tool_name: toolName, tool_use_id: toolUseId, input };
}

/** The turn event for a resolved request. */
export function resolvedEvent({ id, toolName, toolUseId }: ApprovalHead, outcome: ApprovalOutcome): TurnEvent {
  return {
    type: "approval_resolved",
    approval_id: id,
    tool_name: toolName,
    tool_use_id: toolUseId,
    status: outcome.status,
    response_message: outcome.responseMessage,
    resolved_by: outcome.resolvedBy,
    ...(outcome.updatedInput && { updated_input: outcome.updatedInput }),
  };
}

export function approvalChange(
  kind: "approval_requested" | "approval_resolved",
  { id, owner, sessionId }: Pick<ApprovalHead, "id" | "owner" | "sessionId">,
  at: number,
): Omit<Change, "id"> {
  return { kind, owner, sessionId, subjectId: id, at };
}

/** A passed deadline decides the request, even if its timer fires late. */
export function isDue({ status, expiresAt }: ApprovalHead, now: number): boolean {
  return status === "pending" && expiresAt <= now;
}

export function timedOut({ createdAt, expiresAt }: ApprovalHead, at: number): ApprovalOutcome {
  const waited = Math.round((expiresAt - createdAt) / 1000);
  const message = `Approval timed out: nobody decided within ${waited} seconds. The tool was not run.`;
  return undecided("timed_out", message, "timeout", at);
}

/** The decider on record for calls that were denied too many times in a row. */
export const BRAKE = "brake";

/** Denies a repeated call with the reason of its first denial, without asking anybody. */
export function braked(firstReason: string | null): RuleOutcome {
  const message =
    firstReason || "This very call was denied three times in a row. The tool was not run: do something else.";
  return { status: "denied", responseMessage: message, interrupt: false, resolvedBy: BRAKE, isBuiltin: false };
}

export function abandoned(reason: string, at: number): ApprovalOutcome {
  return undecided("abandoned", `Abandoned: ${reason}. Plexus did not allow the call.`, "plexus", at);
}

function undecided(
  status: "timed_out" | "abandoned",
  responseMessage: string,
  resolvedBy: string,
  resolvedAt: number,
): ApprovalOutcome {
  return { status, responseMessage, updatedInput: null, interrupt: false, resolvedAt, resolvedBy };
}
