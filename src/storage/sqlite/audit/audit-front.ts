import { and, asc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import type { AuditChain, AuditEntry } from "../../../contract/audit.ts";
import type { AuditCheckpoint, AuditLink, AuditRow } from "../../audit.ts";
import { entryIn, hashOfEntry, NO_HASH, timeOf } from "../../record/audit-entry.ts";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals, audit, auditCheckpoints } from "../tables.ts";

/**
 * How many entries were deleted; the last of them; and the number of the entry that doesn't verify, if one stopped it.
 */
type Forgetting = { count: number; through: AuditLink | undefined; brokenAt: number | undefined };

type FrontEntry = AuditLink & { entry: AuditEntry; bytes: number; isAwaited: boolean };

/** The decision is not delivered, and its child still runs, so it may come back for it. */
const isAwaited = sql<number>`delivered_at IS NULL AND status NOT IN ('pending', 'abandoned') AND EXISTS
  (SELECT 1 FROM turns WHERE turns.id = loopback_approvals.asked_in AND turns.status = 'running')`;

/** Deletes a chain from its front, judging by what its entries say, as far as they verify. */
export function auditFrontQueries(orm: Orm) {
  const at = sql.placeholder;
  const checkpoint = orm
    .select()
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.chain, at("chain")))
    .prepare();
  const page = orm
    .select()
    .from(audit)
    .where(and(eq(audit.chain, at("chain")), gt(audit.seq, at("after"))))
    .orderBy(asc(audit.seq))
    .limit(at("limit"))
    .prepare();
  const decision = orm
    .select({
      bytes: sql<number>`octet_length(input) + coalesce(octet_length(updated_input), 0)`,
      isAwaited,
    })
    .from(approvals)
    .where(eq(approvals.id, at("id")))
    .prepare();

  /** Returns the first entries of a chain, up to the first that doesn't verify. */
  function front(chain: AuditChain, limit: number): { first: FrontEntry[]; brokenAt: number | undefined } {
    let { seq: after, hash: previous } = checkpoint.get({ chain }) ?? { seq: -1, hash: NO_HASH };
    const first: FrontEntry[] = [];
    for (const { seq, hash, entry: text } of page.all({ chain, after, limit })) {
      const entry = entryIn(text);
      if (!entry || seq !== after + 1 || hashOfEntry(previous, text) !== hash) return { first, brokenAt: after + 1 };
      const found = entry.kind === "decided" ? decision.get({ id: entry.approval_id }) : undefined;
      first.push({ seq, hash, entry, bytes: found?.bytes ?? 0, isAwaited: found?.isAwaited === 1 });
      [after, previous] = [seq, hash];
    }
    return { first, brokenAt: undefined };
  }

  return {
    /** Returns the last deleted entry of the chain. */
    checkpoint: (chain: AuditChain): AuditCheckpoint | undefined => checkpoint.get({ chain }),
    /** Returns entries in order, beginning after `after`. */
    page: (chain: AuditChain, after: number, limit: number): AuditRow[] => page.all({ chain, after, limit }),
    /**
     * Returns when the first entry was made; `undefined` if a child still awaits its decision, or if the entry doesn't
     * verify.
     */
    oldestAt: (chain: AuditChain): number | undefined => {
      const [first] = front(chain, 1).first;
      return first && !first.isAwaited ? timeOf(first.entry) : undefined;
    },
    /**
     * Deletes decisions with their entries from the front of the chain: among the first `limit`, everything up to the
     * last one before `before`. If the clock was set back in between, later times in front of it are deleted too.
     */
    forgetBefore: (chain: AuditChain, before: number, limit: number, chainedSince: number): Forgetting => {
      const verified = front(chain, limit);
      const first = inOneStep(verified.first);
      const awaitedFrom = first.findIndex((row) => row.isAwaited);
      const free = awaitedFrom < 0 ? first : first.slice(0, awaitedFrom);
      const old = free.slice(0, free.findLastIndex(({ entry }) => timeOf(entry) < before) + 1);
      const brokenAt = old.length === verified.first.length ? verified.brokenAt : undefined;
      const last = old.at(-1);
      const ids = old.flatMap(({ entry }) => (entry.kind === "decided" ? entry.approval_id : []));
      // Stop if only entries about the chain itself are left. Deleting adds such an entry, so with a clock set back
      // this would never end.
      if (!last || !old.some(({ entry }) => "approval_id" in entry)) return { count: 0, through: undefined, brokenAt };
      const through = { seq: last.seq, hash: last.hash };
      orm
        .delete(approvals)
        .where(and(inArray(approvals.id, ids), sql`status <> 'pending'`))
        .run();
      orm
        .delete(audit)
        .where(and(eq(audit.chain, chain), lte(audit.seq, last.seq)))
        .run();
      orm
        .insert(auditCheckpoints)
        .values({ chain, ...through, chainedSince })
        .onConflictDoUpdate({ target: auditCheckpoints.chain, set: through })
        .run();
      return { count: old.length, through, brokenAt };
    },
  };
}
