import type { AuditChain, AuditEntry, AuditLine, AuditMark, AuditProblem, AuditReport } from "../../contract/audit.ts";
import { entryIn, hashOfEntry, NO_HASH, subjectOf, timeOf } from "../../storage/record/audit-entry.ts";

type Report = (problem: AuditProblem) => void;

/** Checks the links of a chain entry by entry; needs nothing but the entries. */
export function createLinkCheck(chain: AuditChain) {
  let entries = 0;
  let first: AuditLine | undefined;
  let last: AuditLine | undefined;
  let firstAt: number | null = null;
  let headAt: number | null = null;
  let mark: AuditMark | undefined;
  let isRest = false;
  /** The number before the chain's first entry; -1 for a complete chain. */
  const beginsBehind = () => (first?.seq ?? 0) - 1;

  /** What an entry says about the start of its chain must agree with earlier entries. */
  function problemsOf(seq: number, now: AuditMark): string[] {
    const isForgotten = now.kind === "forgotten";
    const wrong: [boolean, string][] = [
      [!isForgotten && seq !== 0, "a chain begins only once"],
      [isForgotten && now.through_seq >= seq, "it says that entries were forgotten that came after it"],
      [
        isForgotten && mark?.kind === "forgotten" && now.through_seq <= mark.through_seq,
        "it says that no more was forgotten than before",
      ],
      [mark !== undefined && now.chained_since !== mark.chained_since, "it says that the chain began at another time"],
      [
        mark !== undefined && now.unchained > mark.unchained,
        "it counts more decisions from before the chain than there were",
      ],
    ];
    return wrong.flatMap(([isWrong, problem]) => (isWrong ? problem : []));
  }

  return {
    /** Checks the next entry and reports its problems; `undefined` if it is not readable. */
    next(line: AuditLine, report: Report): AuditEntry | undefined {
      const entry = entryIn(line.entry);
      const seq = Number.isSafeInteger(line.seq) ? line.seq : null;
      const complain = (problem: string) => report({ chain, seq, approval_id: subjectOf(entry), problem });
      if (seq === null) {
        complain("it has no number: it was inserted");
        return undefined;
      }
      const { seq: before, hash } = last ?? { seq: seq - 1, hash: line.previous };
      if (seq <= before) complain(`it stands behind entry ${before}`);
      else if (seq !== before + 1) complain(`the entries from ${before + 1} to ${seq - 1} are missing`);
      else if (line.previous !== hash) complain("it does not build on the entry before it");
      if (hashOfEntry(line.previous, line.entry) !== line.hash)
        complain("its hash does not fit: the entry was changed");
      entries++;
      first ??= line;
      last = line;
      headAt = entry ? timeOf(entry) : null;
      if (entries === 1) firstAt = headAt;
      if (!entry) complain("it is no entry that this version of Plexus writes");
      if (entry && seq === 0 && entry.kind !== "begins") complain("a chain begins with another entry than this");
      if (entry?.kind === "begins" || entry?.kind === "forgotten") {
        problemsOf(seq, entry).forEach(complain);
        mark = entry;
      }
      // Another such entry may follow, if retention removed more during the read.
      if (entry?.kind === "forgotten" && entry.through_seq === beginsBehind())
        isRest ||= entry.through_hash === first.previous;
      return entry;
    },
    /** Called at the end: checks that the chain starts where its own entries say. */
    finish(report: Report): void {
      if (!first || isRest || (first.seq === 0 && first.previous === NO_HASH)) return;
      const problem = "what stood before this entry was not forgotten by Plexus";
      report({ chain, seq: first.seq, approval_id: null, problem });
    },
    mark: (): AuditMark | undefined => mark,
    summary: (): AuditReport["chains"][number] => ({
      chain,
      entries,
      head: { seq: last?.seq ?? -1, hash: last?.hash ?? NO_HASH },
      forgotten_through: beginsBehind(),
      chained_since: mark?.chained_since ?? null,
      first_at: firstAt,
      head_at: headAt,
    }),
  };
}
