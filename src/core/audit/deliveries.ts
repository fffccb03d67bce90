import type { AuditChain, AuditEntry, AuditProblem } from "../../contract/audit.ts";

type Report = (problem: AuditProblem) => void;

export const TWICE = "it was delivered twice";
export const UNKNOWN = "a decision was delivered that the chain does not have";

/**
 * Follows which decisions of a chain were handed over: each is once, with its decision or later. `problemWith` tells what
 * is wrong with the delivery of a decision that was not seen waiting for it.
 */
export function createDeliveryCheck(chain: AuditChain, problemWith: (approvalId: string) => string | undefined) {
  const waiting = new Set<string>();
  const delivered = new Set<string>();

  return {
    next(entry: AuditEntry | undefined, seq: number, report: Report): void {
      if (entry?.kind === "decided" && entry.delivered_at === null) waiting.add(entry.approval_id);
      if (entry?.kind !== "delivered") return;
      const { approval_id } = entry;
      const isExpected = waiting.delete(approval_id);
      const problem = isExpected ? undefined : delivered.has(approval_id) ? TWICE : problemWith(approval_id);
      if (problem) report({ chain, seq, approval_id, problem });
      delivered.add(approval_id);
    },
  };
}
