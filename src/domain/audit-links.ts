import type { AuditChain, AuditEntry, AuditLine, AuditProblem } from "../schema/audit.ts";
import { entryIn, hashOfEntry, NO_HASH, subjectOf } from "../storage/audit-entry.ts";

type Report = (problem: AuditProblem) => void;
type Link = Pick<AuditLine, "seq" | "hash">;

/** Checks a chain entry by entry, as anybody can who has an export of it. */
export function createLinkCheck(chain: AuditChain) {
  let last: Link | undefined;
  let first: AuditLine | undefined;
  let forgotten: Extract<AuditEntry, { kind: "forgotten" }> | undefined;

  return {
    /** What the next entry says, where it fits; what doesn't is reported. */
    next(line: AuditLine, report: Report): AuditEntry | undefined {
      const entry = entryIn(line.entry);
      const seq = Number.isSafeInteger(line.seq) ? line.seq : null;
      const complain = (problem: string) => report({ chain, seq, approval_id: subjectOf(entry), problem });
      if (seq === null) {
        complain("it has no number: it was inserted");
        return undefined;
      }
      const { seq: before, hash } = last ?? { seq: line.seq - 1, hash: line.previous };
      if (line.seq !== before + 1) complain(`the entries from ${before + 1} to ${line.seq - 1} are missing`);
      else if (line.previous !== hash) complain("it does not build on the entry before it");
      if (hashOfEntry(line.previous, line.entry) !== line.hash)
        complain("its hash does not fit: the entry was changed");
      first ??= line;
      last = line;
      if (!entry) complain("it is no entry that this version of Plexus writes");
      if (entry?.kind === "forgotten") forgotten = entry;
      return entry;
    },
    /** At the end: whether the chain begins where it should, which its own entries tell. */
    finish(report: Report): void {
      if (!first) return;
      const { seq, previous } = first;
      const isWhole = seq === 0 && previous === NO_HASH;
      const isRest = forgotten?.through_seq === seq - 1 && forgotten.through_hash === previous;
      if (isWhole || isRest) return;
      report({ chain, seq, approval_id: null, problem: "what stood before this entry was not forgotten by Plexus" });
    },
    /** The entry after which the chain begins; -1 for one that is whole. */
    beginsBehind: (): number => (first?.seq ?? 0) - 1,
    head: (): Link => ({ seq: last?.seq ?? -1, hash: last?.hash ?? NO_HASH }),
  };
}
