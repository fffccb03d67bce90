import { AuditChain, type AuditLine, type AuditProblem, type AuditReport, type DecidedEntry } from "../schema/audit.ts";
import { AppError } from "../schema/errors.ts";
import type { ApprovalRow } from "../storage/approvals.ts";
import type { Storage } from "../storage/database.ts";
import { hashOf } from "./asks.ts";
import { decidedEntry, hashOfUpdate, NO_HASH } from "./audit.ts";
import { createLinkCheck } from "./audit-links.ts";

const PAGE = 200;
/** So much of what was asked is read before others get their turn. */
const MAX_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 100;
const TRIES = 3;
const RETIMED = "the time of its delivery was changed";

export type AuditCheck = ReturnType<typeof createAuditCheck>;
type Report = (problem: AuditProblem) => void;
/** Up to when decisions were made that no chain has, and how many may be left of them. */
type Unchained = { since: number; count: number };

/** Compares the hash chains with themselves and with the decisions on record, in steps, so that others get their turn. */
export function createAuditCheck({ storage }: { storage: Storage }) {
  /** The entries of a chain in order, each with the hash that it builds on; throws when retention overtakes it. */
  async function* lines(chain: AuditChain): AsyncGenerator<AuditLine> {
    let { seq: after, hash: previous } = storage.audit.checkpoint(chain) ?? { seq: -1, hash: NO_HASH };
    for (;;) {
      const page = storage.audit.page(chain, after, PAGE);
      if ((storage.audit.checkpoint(chain)?.seq ?? -1) > after) throw new Overtaken();
      for (const { seq, hash, entry } of page) {
        yield { chain, seq, previous, hash, entry };
        previous = hash;
        after = seq;
      }
      if (page.length < PAGE) return;
      await new Promise(setImmediate);
    }
  }

  async function checkChain(chain: AuditChain, report: Report) {
    const links = createLinkCheck(chain);
    /** Of decisions that no child waited for, when their rows say that they were delivered. */
    const late = new Map<string, { seq: number; deliveredAt: number | null; isTold: boolean }>();
    let unchained: Unchained = { since: Number.POSITIVE_INFINITY, count: 0 };
    let entries = 0;
    let bytes = 0;
    for await (const line of lines(chain)) {
      entries++;
      const entry = links.next(line, report);
      if (entry?.kind === "begins" || entry?.kind === "forgotten")
        unchained = { since: entry.chained_since, count: entry.unchained };
      if (entry?.kind === "decided") {
        const row = storage.approvals.get(entry.approval_id);
        bytes += row ? JSON.stringify(row.input).length : 0;
        const problem = row ? changeIn(row, entry, line.seq) : "this decision was removed";
        if (problem) report({ chain, seq: line.seq, approval_id: entry.approval_id, problem });
        const deliveredAt = row?.deliveredAt ?? null;
        if (entry.delivered_at === null) late.set(entry.approval_id, { seq: line.seq, deliveredAt, isTold: false });
      }
      if (entry?.kind === "delivered") {
        const { approval_id } = entry;
        const known = late.get(approval_id);
        if (known?.isTold) report({ chain, seq: line.seq, approval_id, problem: "it was delivered twice" });
        else if (known && known.deliveredAt !== entry.delivered_at)
          report({ chain, seq: known.seq, approval_id, problem: RETIMED });
        late.set(approval_id, { seq: line.seq, deliveredAt: entry.delivered_at, isTold: true });
      }
      if (bytes < MAX_BYTES) continue;
      bytes = 0;
      await new Promise(setImmediate);
    }
    links.finish(report);
    const begin = storage.audit.checkpoint(chain)?.seq ?? -1;
    if (entries > 0 && links.beginsBehind() !== begin)
      report({ chain, seq: begin, approval_id: null, problem: "the checkpoint does not stand before the first entry" });
    for (const [approval_id, { seq, deliveredAt, isTold }] of late)
      if (!isTold && deliveredAt !== null) report({ chain, seq, approval_id, problem: RETIMED });
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
        else if (named !== id) report(rowProblem(id, "this decision is in no chain: it was inserted"));
      }
      after = page.at(-1)?.id ?? after;
      if (page.length < PAGE) break;
      await new Promise(setImmediate);
    }
    if (older > unchained.count) {
      const were = `${unchained.count} decisions from before the chain began were on record, and now there are ${older}`;
      report(rowProblem(null, `${were}: some were inserted`));
    }
  }

  return {
    /** Every entry of both chains, for another program to check. */
    async *export(): AsyncGenerator<AuditLine> {
      for (const chain of AuditChain.options) yield* lines(chain);
    },
    async verify(): Promise<AuditReport> {
      for (let tries = 1; ; tries++) {
        try {
          return await check();
        } catch (cause) {
          if (!(cause instanceof Overtaken) || tries === TRIES) throw cause;
        }
      }
    },
  };

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

/** Retention has forgotten entries that were still to be read. */
class Overtaken extends AppError {
  constructor() {
    super("storage_unavailable", "Old decisions were forgotten while the record was read: try again.");
  }
}

function rowProblem(approval_id: string | null, problem: string): AuditProblem {
  return { chain: "decisions", seq: null, approval_id, problem };
}

/** What differs between a decision as it was chained and as it stands on record now. */
function changeIn(row: ApprovalRow, entry: DecidedEntry, seq: number): string | undefined {
  const { status, resolvedAt, resolvedBy } = row;
  if (status === "pending" || resolvedAt === null || resolvedBy === null) return "this decision was taken back";
  if (row.auditSeq !== seq) return "this decision names another place in the chain";
  if (row.askHash !== entry.ask_hash) return "this decision was changed: ask_hash";
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
