import { createHash } from "node:crypto";
import { AuditChain, type AuditEntry, type DecidedEntry } from "../../contract/audit.ts";
import type { ApprovalHead, Outcome } from "../../storage/sqlite/approvals/approvals.ts";
import type { AuditLink } from "../../storage/sqlite/audit/audit.ts";
import { hashOfEntry, NO_HASH } from "../../storage/sqlite/audit/audit-entry.ts";
import type { Storage } from "../../storage/sqlite/database.ts";

export type Audit = ReturnType<typeof createAudit>;

type AuditNeed = { storage: Storage; now: () => number; onError: (cause: unknown) => void };

/** Writes the hash chains over decisions; every function is called inside the transaction of what it records. */
export function createAudit({ storage, now, onError }: AuditNeed) {
  const refused = new Map<AuditChain, string>();

  /** Where the next entry goes, and the hash that it builds on; a chain begins with what was decided before it. */
  function next(chain: AuditChain): AuditLink {
    const tail = storage.audit.tail(chain);
    if (tail) return { seq: tail.seq + 1, hash: tail.hash };
    const at = now();
    const begins = { kind: "begins", at, chained_since: at, unchained: unchainedOf(chain) } as const;
    return { seq: 1, hash: append(chain, { seq: 0, hash: NO_HASH }, null, at, begins) };
  }

  /** Only what people decided goes back to before there were chains. */
  function unchainedOf(chain: AuditChain): number {
    return chain === "decisions" ? storage.audit.countUnchained() : 0;
  }

  function append(chain: AuditChain, link: AuditLink, approvalId: string | null, at: number, said: AuditEntry): string {
    const entry = JSON.stringify(said);
    const hash = hashOfEntry(link.hash, entry);
    storage.audit.append({ chain, seq: link.seq, approvalId, at, entry, hash });
    return hash;
  }

  /** What does not verify is evidence: it stays, and that is told once. */
  function refuse(chain: AuditChain, reason: string): 0 {
    const message = `The audit chain ${chain} was tampered with, or is damaged: ${reason}. Nothing is forgotten from there on: run \`plexus audit verify\`.`;
    if (refused.get(chain) !== message) onError(new Error(message));
    refused.set(chain, message);
    return 0;
  }

  return {
    next,
    /** Begins the chain over decisions where there is none: whatever is decided without it from then on is found. */
    begin(): void {
      if (!storage.audit.tail("decisions")) next("decisions");
    },
    /** Records a decision at the place that `next` named; the row of the decision names that place too. */
    decided(link: AuditLink, asked: ApprovalHead, outcome: Outcome): void {
      const entry = decidedEntry(asked, outcome, hashOfUpdate(outcome.updatedInput));
      append(chainOf(asked), link, asked.id, outcome.resolvedAt, entry);
    },
    /** Records that a decision was handed to its child later than it was made. */
    delivered(asked: ApprovalHead, deliveredAt: number): void {
      const entry = { kind: "delivered", approval_id: asked.id, delivered_at: deliveredAt } as const;
      const chain = chainOf(asked);
      append(chain, next(chain), asked.id, deliveredAt, entry);
    },
    /** Forgets what is older, as far as it verifies, and records up to where; tells how many entries went. */
    forgetBefore(chain: AuditChain, before: number, limit: number): number {
      if (!storage.audit.tail(chain)) return 0;
      const mark = storage.audit.mark(chain);
      if (!mark) return refuse(chain, "no entry says when it began");
      const { chained_since } = mark;
      const { count, through, brokenAt } = storage.audit.forgetBefore(chain, before, limit, chained_since);
      if (brokenAt !== undefined) refuse(chain, `entry ${brokenAt} does not verify`);
      if (!through) return 0;
      const at = now();
      const entry = {
        kind: "forgotten",
        at,
        through_seq: through.seq,
        through_hash: through.hash,
        chained_since,
        // What no chain has gets less and less: more were inserted.
        unchained: Math.min(mark.unchained, unchainedOf(chain)),
      } as const;
      append(chain, next(chain), null, at, entry);
      return count;
    },
    /**
     * Removes the large inputs of what one owner's children asked, the oldest first, where it is over and was decided
     * before `before`; records whose, and tells how many.
     */
    cutInputs(owner: string, before: number, limit: number): number {
      const large = storage.approvals.listLarge(owner, before, limit);
      const at = now();
      for (const chain of AuditChain.options) {
        const approval_ids = large.filter((row) => chainOf(row) === chain).map(({ id }) => id);
        if (approval_ids.length === 0) continue;
        storage.approvals.cutInputs(approval_ids, at);
        append(chain, next(chain), null, at, { kind: "cut", at, approval_ids });
      }
      return large.length;
    },
  };
}

/** Of an edited input, as its JSON is stored. */
export function hashOfUpdate(updatedInput: Outcome["updatedInput"]): string | null {
  return updatedInput && createHash("sha256").update(JSON.stringify(updatedInput)).digest("hex");
}

export function chainOf({ isBuiltin }: Pick<ApprovalHead, "isBuiltin">): AuditChain {
  return isBuiltin ? "builtin" : "decisions";
}

/** What the chain says of a decision; the same for a row that nobody has changed since. */
export function decidedEntry(
  asked: Omit<ApprovalHead, "status" | "resolvedAt" | "resolvedBy" | "deliveredAt">,
  outcome: Omit<Outcome, "updatedInput">,
  updated_input_hash: string | null,
): DecidedEntry {
  return {
    kind: "decided",
    approval_id: asked.id,
    session_id: asked.sessionId,
    session_name: asked.sessionName,
    asked_in: asked.approvalFromEvent,
    owner: asked.owner,
    tool_name: asked.toolName,
    tool_use_id: asked.toolUseId,
    ask_hash: asked.askHash,
    asked_at: asked.createdAt,
    expires_at: asked.expiresAt,
    status: outcome.status,
    message: outcome.responseMessage,
    updated_input_hash,
    interrupt: outcome.interrupt,
    decided_at: outcome.resolvedAt,
    decided_by: outcome.resolvedBy,
    delivered_at: outcome.deliveredAt,
  };
}
