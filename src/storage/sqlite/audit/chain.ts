import { AuditChain, type AuditEntry } from "../../../contract/audit.ts";
import type { ApprovalHead, ApprovalOutcome } from "../../approvals.ts";
import type { AuditLink, AuditRow, ForgottenAudit } from "../../audit.ts";
import { auditRow, CHAIN_BEGIN, chainOf, decidedEntry, hashOfUpdate, linkBehind } from "../../record/audit-entry.ts";
import type { LargeApprovalQueries } from "../approvals/large-approvals.ts";
import type { AuditQueries } from "./audit.ts";

export type Chain = ReturnType<typeof createChain>;

/** Writes the hash chains over decisions. Every function runs inside the transaction of what it records. */
export function createChain({ audit, large }: { audit: AuditQueries; large: LargeApprovalQueries }) {
  /**
   * Returns the position of the next entry and the hash that it builds on. Begins the chain, if needed, with the number
   * of earlier decisions.
   */
  function next(chain: AuditChain, now: number): AuditLink {
    const tail = audit.tail(chain);
    if (tail) return linkBehind(tail);
    const begins = { kind: "begins", at: now, chained_since: now, unchained: unchainedOf(chain) } as const;
    return linkBehind(append(chain, CHAIN_BEGIN, begins));
  }

  /** Only decisions by people exist from before there were chains. */
  function unchainedOf(chain: AuditChain): number {
    return chain === "decisions" ? audit.countUnchained() : 0;
  }

  function append(chain: AuditChain, link: AuditLink, entry: AuditEntry): AuditRow {
    const row = auditRow(chain, link, entry);
    audit.append(row);
    return row;
  }

  return {
    next,
    begin(now: number): void {
      if (!audit.tail("decisions")) next("decisions", now);
    },
    /** Records a decision at the position that `next` returned; the decision's row names that position too. */
    decided(link: AuditLink, settled: ApprovalHead, outcome: ApprovalOutcome): void {
      append(chainOf(settled), link, decidedEntry(settled, outcome, hashOfUpdate(outcome.updatedInput)));
    },
    /** Records that a decision reached its child later than it was made. */
    delivered(asked: ApprovalHead, deliveredAt: number): void {
      const chain = chainOf(asked);
      const entry = { kind: "delivered", approval_id: asked.id, delivered_at: deliveredAt } as const;
      append(chain, next(chain, deliveredAt), entry);
    },
    forgetBefore(chain: AuditChain, before: number, limit: number, now: number): ForgottenAudit {
      if (!audit.tail(chain)) return { count: 0, problem: undefined };
      const mark = audit.mark(chain);
      if (!mark) return { count: 0, problem: "no entry says when it began" };
      const { chained_since } = mark;
      const { count, through, brokenAt } = audit.forgetBefore(chain, before, limit, chained_since);
      const problem = brokenAt === undefined ? undefined : `entry ${brokenAt} does not verify`;
      if (!through) return { count: 0, problem };
      append(chain, next(chain, now), {
        kind: "forgotten",
        at: now,
        through_seq: through.seq,
        through_hash: through.hash,
        chained_since,
        // The number of unchained decisions only decreases, so more of them would mean that rows were inserted.
        unchained: Math.min(mark.unchained, unchainedOf(chain)),
      });
      return { count, problem };
    },
    cutInputs(owner: string, before: number, limit: number, now: number): number {
      const found = large.listLarge(owner, before, limit);
      for (const chain of AuditChain.options) {
        const approval_ids = found.filter((row) => chainOf(row) === chain).map(({ id }) => id);
        if (approval_ids.length === 0) continue;
        large.cutInputs(approval_ids, now);
        append(chain, next(chain, now), { kind: "cut", at: now, approval_ids });
      }
      return found.length;
    },
  };
}
