import type { AuditChain, AuditLine, AuditProblem, AuditReport } from "../../contract/audit.ts";
import { createDeliveryCheck, type OddDelivery, TWICE, UNKNOWN } from "./deliveries.ts";
import { createLinkCheck } from "./links.ts";

/** Checks an exported chain without the stored decisions, as any program can. */
export function createExportCheck(chain: AuditChain, report: (problem: AuditProblem) => void) {
  const links = createLinkCheck(chain);
  const deliveredAtOnce = new Set<string>();
  const deliveries = createDeliveryCheck();

  function problemOf({ approvalId, isRepeated }: OddDelivery): string | undefined {
    if (isRepeated || deliveredAtOnce.has(approvalId)) return TWICE;
    const isComplete = links.summary().forgotten_through < 0 && links.mark()?.unchained === 0;
    return isComplete ? UNKNOWN : undefined;
  }

  return {
    next(line: AuditLine): void {
      const entry = links.next(line, report);
      if (entry?.kind === "decided" && entry.delivered_at !== null) deliveredAtOnce.add(entry.approval_id);
      const odd = deliveries.next(entry);
      const problem = odd && problemOf(odd);
      if (problem) report({ chain, seq: line.seq, approval_id: odd.approvalId, problem });
    },
    /** Called at the end; returns the summary of the chain. */
    finish(): AuditReport["chains"][number] {
      links.finish(report);
      return links.summary();
    },
  };
}
