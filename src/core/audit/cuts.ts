import type { AuditChain, AuditEntry, AuditProblem } from "../../contract/audit.ts";
import type { ApprovalRow } from "../../storage/approvals.ts";

type Report = (problem: AuditProblem) => void;

/** Checks removed inputs: a row that says so needs a "cut" entry that names it, and the reverse. */
export function createCutCheck(
  chain: AuditChain,
  placeOf: (approvalId: string) => Promise<Pick<ApprovalRow, "inputCutAt"> | undefined>,
) {
  /** Decisions whose rows say so, until an entry confirms it. */
  const unnamed = new Map<string, number>();

  return {
    decided(row: Pick<ApprovalRow, "id" | "inputCutAt">, seq: number): void {
      if (row.inputCutAt !== null) unnamed.set(row.id, seq);
    },
    async next(entry: AuditEntry | undefined, seq: number, report: Report): Promise<void> {
      if (entry?.kind !== "cut") return;
      for (const approval_id of entry.approval_ids) {
        unnamed.delete(approval_id);
        const row = await placeOf(approval_id);
        if (row && row.inputCutAt !== entry.at)
          report({ chain, seq, approval_id, problem: "its input was removed, and its row does not say so" });
      }
    },
    finish(report: Report): void {
      for (const [approval_id, seq] of unnamed)
        report({ chain, seq, approval_id, problem: "its input was not removed by Plexus" });
    },
  };
}
