import { AuditChain, type AuditLine, type AuditProblem, type AuditReport } from "../../contract/audit.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { AuditRow } from "../../storage/audit.ts";
import { NO_HASH, subjectOf, timeOf } from "../../storage/record/audit-entry.ts";
import type { Storage } from "../../storage/storage.ts";
import { createCutCheck } from "./cuts.ts";
import { checkRows, problemOfDecision, problemOfDelivery, readDecision } from "./decisions.ts";
import { createDeliveryCheck, type OddDelivery, TWICE } from "./deliveries.ts";
import { createLinkCheck } from "./links.ts";

const PAGE = 200;
/** How many bytes of inputs are read before yielding to the event loop. */
const MAX_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 100;
const TRIES = 3;
const RETIMED = "the time of its delivery was changed";

export type AuditCheck = ReturnType<typeof createAuditCheck>;
type Report = (problem: AuditProblem) => void;

/**
 * Verifies the hash chains, and compares them with the stored decisions. Works in steps that leave the event loop free.
 */
export function createAuditCheck({ storage }: { storage: Pick<Storage, "approvals" | "audit"> }) {
  const forgottenThrough = async (chain: AuditChain) => (await storage.audit.checkpoint(chain))?.seq ?? -1;

  /**
   * Yields the entries of a chain in order, each with the hash that it builds on. Throws if retention removes entries
   * that were still to be read.
   */
  async function* lines(chain: AuditChain): AsyncGenerator<{ line: AuditLine; row: AuditRow }> {
    let { seq: after, hash: previous } = (await storage.audit.checkpoint(chain)) ?? { seq: -1, hash: NO_HASH };
    for (;;) {
      const page = await storage.audit.page(chain, after, PAGE);
      if (page.forgottenThrough > after) throw new Overtaken();
      // Stop only at an empty page: rows that were already read may refer to entries written meanwhile.
      if (page.rows.length === 0) return;
      for (const row of page.rows) {
        const { seq } = row;
        // SQLite stores any type in any column.
        const [hash, entry] = [String(row.hash), String(row.entry)];
        yield { line: { chain, seq, previous, hash, entry }, row };
        previous = hash;
        after = seq;
      }
      await new Promise(setImmediate);
    }
  }

  async function checkChain(chain: AuditChain, report: Report) {
    const checkpoint = await storage.audit.checkpoint(chain);
    const links = createLinkCheck(chain);
    const deliveries = createDeliveryCheck();
    const problemOf = async ({ approvalId, isRepeated }: OddDelivery) => {
      const mayBeForgotten = !!checkpoint || (links.mark()?.unchained ?? 0) > 0;
      return isRepeated ? TWICE : problemOfDelivery(storage, chain, approvalId, mayBeForgotten);
    };
    const cuts = createCutCheck(chain, (approvalId) => storage.audit.placeOf(chain, approvalId));
    /** Decisions whose rows have a later delivery, until a "delivered" entry confirms it. */
    const marked = new Map<string, number>();
    let bytes = 0;
    for await (const { line, row } of lines(chain)) {
      const { seq } = line;
      const entry = links.next(line, report);
      const complain = (problem: string) => report({ chain, seq, approval_id: subjectOf(entry), problem });
      if (entry && row.approvalId !== subjectOf(entry)) complain("beside it stands another approval_id");
      if (entry && row.at !== timeOf(entry)) complain("beside it stands another at");
      const odd = deliveries.next(entry);
      const oddProblem = odd && (await problemOf(odd));
      if (oddProblem) complain(oddProblem);
      await cuts.next(entry, seq, report);
      if (entry?.kind === "decided") {
        const decision = await readDecision(storage, entry.approval_id);
        const problem = problemOfDecision(decision, entry, chain, seq);
        // Retention may have removed the decision since its entry was read.
        if (problem && (decision || seq > (await forgottenThrough(chain)))) complain(problem);
        if (decision && decision !== "unreadable") {
          bytes += JSON.stringify(decision.input).length;
          cuts.decided(decision, seq);
          if (decision.deliveredAt !== null && entry.delivered_at === null) marked.set(decision.id, seq);
        }
      }
      if (entry?.kind === "delivered") {
        marked.delete(entry.approval_id);
        const place = await storage.audit.placeOf(chain, entry.approval_id);
        if (place && place.deliveredAt !== entry.delivered_at) complain(RETIMED);
      }
      if (bytes < MAX_BYTES) continue;
      bytes = 0;
      await new Promise(setImmediate);
    }
    links.finish(report);
    cuts.finish(report);
    for (const [approval_id, seq] of marked) report({ chain, seq, approval_id, problem: RETIMED });
    const problem = problemOfCheckpoint(checkpoint, links.summary());
    if (problem) report({ chain, seq: checkpoint?.seq ?? null, approval_id: null, problem });
    return { begin: checkpoint?.seq ?? -1, mark: links.mark(), summary: links.summary() };
  }

  return {
    /** Yields every entry of both chains, for another program to check. */
    async *export(): AsyncGenerator<AuditLine> {
      for (const chain of AuditChain.options) for await (const { line } of lines(chain)) yield line;
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
    const decisions = await checkChain("decisions", report);
    const builtin = await checkChain("builtin", report);
    await checkRows(storage, { decisions: decisions.begin, builtin: builtin.begin }, decisions.mark, report);
    const chains = [decisions.summary, builtin.summary];
    return { type: "ok", intact: count === 0, chains, problems, has_more_problems: count > MAX_PROBLEMS };
  }
}

/** Compares a checkpoint with the chain: Plexus writes each checkpoint together with an entry of the same content. */
function problemOfCheckpoint(
  checkpoint: { seq: number; chainedSince: number } | undefined,
  { entries, forgotten_through, chained_since }: AuditReport["chains"][number],
): string | undefined {
  if (checkpoint && (entries === 0 || checkpoint.seq < 0))
    return "there is a checkpoint, although nothing was forgotten";
  if (entries > 0 && (checkpoint?.seq ?? -1) !== forgotten_through)
    return "the checkpoint does not stand before the first entry";
  if (checkpoint && checkpoint.chainedSince !== chained_since)
    return "the checkpoint says that the chain began at another time";
  return undefined;
}

/** Retention removed entries that were still to be read. */
class Overtaken extends AppError {
  constructor() {
    super("storage_unavailable", "Old decisions were forgotten while the record was read: try again.");
  }
}
