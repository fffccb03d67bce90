import { AuditChain, type AuditEntry, type AuditLine, type AuditProblem, type AuditReport } from "../schema/audit.ts";
import type { DecidedRow } from "../storage/audit.ts";
import type { Storage } from "../storage/database.ts";
import { hashOf } from "./asks.ts";
import { decidedEntry, hashOfUpdate, NO_HASH } from "./audit.ts";
import { createLinkCheck } from "./audit-links.ts";

const PAGE = 200;
const MAX_PROBLEMS = 100;

export type AuditCheck = ReturnType<typeof createAuditCheck>;
type Report = (problem: AuditProblem) => void;
type Decided = Extract<AuditEntry, { kind: "decided" }>;
/** Up to when decisions were made that no chain has, and how many may be left of them. */
type Unchained = { since: number; count: number };

/** Compares the hash chains with themselves and with the decisions on record, a page at a time, so that others get their turn. */
export function createAuditCheck({ storage }: { storage: Storage }) {
  /** The entries of a chain in order, each with the hash that it builds on. */
  async function* lines(chain: AuditChain): AsyncGenerator<{ line: AuditLine; approval: DecidedRow | null }> {
    let { seq: after, hash: previous } = storage.audit.checkpoint(chain) ?? { seq: -1, hash: NO_HASH };
    for (;;) {
      const page = storage.audit.page(chain, after, PAGE);
      for (const { entry: row, approval } of page) {
        const { seq, hash, entry } = row;
        yield { line: { chain, seq, previous, hash, entry }, approval };
        previous = hash;
      }
      after = page.at(-1)?.entry.seq ?? after;
      if (page.length < PAGE) return;
      await new Promise(setImmediate);
    }
  }

  async function checkChain(chain: AuditChain, report: Report) {
    const links = createLinkCheck(chain);
    const undelivered = new Map<string, { seq: number; deliveredAt: number }>();
    let unchained: Unchained = { since: Number.POSITIVE_INFINITY, count: 0 };
    let entries = 0;
    for await (const { line, approval } of lines(chain)) {
      entries++;
      const entry = links.next(line, report);
      if (entry?.kind === "begins" || entry?.kind === "forgotten")
        unchained = { since: entry.chained_since, count: entry.unchained };
      if (entry?.kind === "decided") {
        const problem = approval ? changeIn(approval, entry, line.seq) : "this decision was removed";
        if (problem) report({ chain, seq: line.seq, approval_id: entry.approval_id, problem });
        const deliveredAt = entry.delivered_at === null ? approval?.deliveredAt : undefined;
        if (deliveredAt) undelivered.set(entry.approval_id, { seq: line.seq, deliveredAt });
      }
      if (entry?.kind === "delivered" && undelivered.get(entry.approval_id)?.deliveredAt === entry.delivered_at)
        undelivered.delete(entry.approval_id);
    }
    links.finish(report);
    const begin = storage.audit.checkpoint(chain)?.seq ?? -1;
    if (entries > 0 && links.beginsBehind() !== begin)
      report({ chain, seq: begin, approval_id: null, problem: "the checkpoint does not stand before the first entry" });
    for (const [approval_id, { seq }] of undelivered)
      report({ chain, seq, approval_id, problem: "the time of its delivery was changed" });
    return { entries, unchained, head: links.head() };
  }

  /** Decisions on record that the chains don't know. */
  async function checkRows(unchained: Unchained, report: Report): Promise<void> {
    let older = 0;
    for (let after = ""; ; ) {
      const page = storage.audit.decided(after, PAGE);
      for (const { id, auditSeq, at, named } of page) {
        const isOlder = auditSeq === null && at !== null && at <= unchained.since;
        if (isOlder) older++;
        else if (named !== id) report(stranger(id, "this decision is in no chain: it was inserted"));
      }
      after = page.at(-1)?.id ?? after;
      if (page.length < PAGE) break;
      await new Promise(setImmediate);
    }
    if (older > unchained.count) {
      const were = `${unchained.count} decisions from before the chain began were on record, and now there are ${older}`;
      report(stranger(null, `${were}: some were inserted`));
    }
  }

  return {
    /** Every entry of both chains, for another program to check. */
    async *export(): AsyncGenerator<AuditLine> {
      for (const chain of AuditChain.options) for await (const { line } of lines(chain)) yield line;
    },
    async verify(): Promise<AuditReport> {
      for (;;) {
        const before = forgottenThrough();
        const report = await check();
        // What retention took away meanwhile is missing from neither.
        if (Bun.deepEquals(before, forgottenThrough())) return report;
      }
    },
  };

  function forgottenThrough(): number[] {
    return AuditChain.options.map((chain) => storage.audit.checkpoint(chain)?.seq ?? -1);
  }

  async function check(): Promise<AuditReport> {
    const problems: AuditProblem[] = [];
    let count = 0;
    const report: Report = (problem) => void (++count <= MAX_PROBLEMS && problems.push(problem));
    const chains: AuditReport["chains"] = [];
    let unchained: Unchained | undefined;
    for (const chain of AuditChain.options) {
      const { entries, head, unchained: found } = await checkChain(chain, report);
      unchained ??= found;
      chains.push({ chain, entries, head, forgotten_through: storage.audit.checkpoint(chain)?.seq ?? -1 });
    }
    if (unchained) await checkRows(unchained, report);
    return { type: "ok", intact: count === 0, chains, problems, has_more_problems: count > MAX_PROBLEMS };
  }
}

function stranger(approval_id: string | null, problem: string): AuditProblem {
  return { chain: "decisions", seq: null, approval_id, problem };
}

/** What differs between a decision as it was chained and as it stands on record now. */
function changeIn(row: DecidedRow, entry: Decided, seq: number): string | undefined {
  const { status, resolvedAt, resolvedBy } = row;
  if (status === "pending" || resolvedAt === null || resolvedBy === null) return "this decision was taken back";
  if (row.auditSeq !== seq) return "this decision names another place in the chain";
  const outcome = { ...row, status, resolvedAt, resolvedBy, deliveredAt: entry.delivered_at && row.deliveredAt };
  const now = decidedEntry(
    { ...row, askHash: hashOf(row.toolName, row.input) },
    outcome,
    hashOfUpdate(row.updatedInput),
  );
  const changed = Object.entries(now).filter(([key, value]) => !Bun.deepEquals(value, Object(entry)[key]));
  if (changed.length === 0) return undefined;
  return `this decision was changed: ${changed.map(([key]) => key).join(", ")}`;
}
