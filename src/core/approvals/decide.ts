import type { Decision, RespondResult } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { ApprovalOutcome } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import { displayName, type Principal, visibleOwner } from "../access/principals.ts";

/** How a principal decides: through the one command in which all decisions race, and the first one wins. */
export function createDecide({ storage, now }: { storage: Pick<Storage, "approvals">; now: () => number }) {
  /** Decides, or tells who was first. What is not the caller's reads the same as what does not exist. */
  return async (principal: Principal, id: string, decision: Decision): Promise<RespondResult> => {
    if (principal.kind === "session") throw unknownApproval(id);
    const outcome = outcomeOf(principal, decision, now());
    const settled = await storage.approvals.settleIfPending(id, outcome, visibleOwner(principal));
    if (settled.outcome === "unknown") throw unknownApproval(id);
    const { status, resolvedAt, resolvedBy } = settled.approval;
    if (settled.outcome === "settled") return { type: "ok", approval_id: id, status };
    if (resolvedAt === null || resolvedBy === null) throw unknownApproval(id);
    return {
      type: "already_resolved",
      approval_id: id,
      status,
      resolved_by: resolvedBy,
      resolved_at: seconds(resolvedAt),
    };
  };
}

export function unknownApproval(id: string): AppError {
  return new AppError("not_found", `There is no approval ${id}: list the pending ones to see their ids.`);
}

function outcomeOf(principal: Principal, decision: Decision, at: number): ApprovalOutcome {
  return {
    status: decision.approve ? "allowed" : "denied",
    responseMessage: decision.message || null,
    updatedInput: decision.updated_input ?? null,
    interrupt: decision.interrupt ?? false,
    resolvedAt: at,
    resolvedBy: displayName(principal),
  };
}
