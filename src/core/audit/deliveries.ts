import type { AuditEntry } from "../../contract/audit.ts";

export const TWICE = "it was delivered twice";
export const UNKNOWN = "a decision was delivered that the chain does not have";

/** A delivery without a waiting decision. `isRepeated`: an earlier entry has delivered the same decision. */
export type OddDelivery = { approvalId: string; isRepeated: boolean };

/** Checks deliveries: each decision is delivered once, with its own entry or later. */
export function createDeliveryCheck() {
  const waiting = new Set<string>();
  const delivered = new Set<string>();

  return {
    next(entry: AuditEntry | undefined): OddDelivery | undefined {
      if (entry?.kind === "decided" && entry.delivered_at === null) waiting.add(entry.approval_id);
      if (entry?.kind !== "delivered") return undefined;
      const { approval_id: approvalId } = entry;
      const isExpected = waiting.delete(approvalId);
      const isRepeated = delivered.has(approvalId);
      delivered.add(approvalId);
      return isExpected ? undefined : { approvalId, isRepeated };
    },
  };
}
