import type { Database } from "bun:sqlite";
import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { AuditChain } from "../schema/audit.ts";
import type { ApprovalRow } from "./approval-head.ts";
import type { Orm } from "./database.ts";
import { inOneStep } from "./space.ts";
import { approvals, audit, auditCheckpoints } from "./tables.ts";

export type AuditRow = typeof audit.$inferSelect;
/** An entry's place in its chain, and its hash. */
export type AuditLink = Pick<AuditRow, "seq" | "hash">;

/** A decision on record, and the text of the entry that it names as its own. */
export type DecidedPlace = {
  id: string;
  chain: AuditChain | null;
  auditSeq: number | null;
  at: number | null;
  entry: string | null;
  /** A column that holds what Plexus never writes there. */
  oddColumn: string | null;
};

/** A child that runs may still come back for a decision that it has not got yet. */
const isAwaited = sql<number>`coalesce(delivered_at IS NULL AND status NOT IN ('pending', 'abandoned') AND EXISTS
  (SELECT 1 FROM turns WHERE turns.id = loopback_approvals.asked_in AND turns.status = 'running'), 0)`;

/** As it is stored: what is read as `false` may be anything but 1, and be listed nowhere. */
const chainOfRow = sql<AuditChain | null>`CASE is_builtin WHEN 0 THEN 'decisions' WHEN 1 THEN 'builtin' END`;
const oddColumn = sql<string | null>`CASE WHEN is_builtin NOT IN (0, 1) THEN 'is_builtin'
  WHEN interrupt NOT IN (0, 1) THEN 'interrupt' END`;

/** Queries on the hash chains. What writes is called inside a transaction of the writer. */
export function auditQueries(orm: Orm, sqlite: Database) {
  const at = sql.placeholder;
  const ofChain = eq(audit.chain, at("chain"));
  const link = { seq: audit.seq, hash: audit.hash };
  // Both are part of every decision, where Drizzle's own share would show.
  const newest = sqlite.query<AuditLink, [string]>(
    "SELECT seq, hash FROM audit WHERE chain = ? ORDER BY seq DESC LIMIT 1",
  );
  const insert = sqlite.query<never, [string, number, string | null, number, string, string]>(
    "INSERT INTO audit (chain, seq, approval_id, at, entry, hash) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const checkpoint = orm
    .select()
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.chain, at("chain")))
    .prepare();
  const page = orm
    .select()
    .from(audit)
    .where(and(ofChain, gt(audit.seq, at("after"))))
    .orderBy(asc(audit.seq))
    .limit(at("limit"))
    .prepare();
  const front = orm
    .select({
      ...link,
      approvalId: audit.approvalId,
      at: audit.at,
      bytes: sql<number>`coalesce(octet_length(input), 0) + coalesce(octet_length(updated_input), 0)`,
      isAwaited,
    })
    .from(audit)
    .leftJoin(approvals, eq(approvals.id, audit.approvalId))
    .where(ofChain)
    .orderBy(asc(audit.seq))
    .limit(at("limit"))
    .prepare();
  const place = orm
    .select({ auditSeq: approvals.auditSeq, deliveredAt: approvals.deliveredAt })
    .from(approvals)
    .where(eq(approvals.id, at("id")))
    .prepare();
  const unchained = orm
    .select({ count: sql<number>`count(*)` })
    .from(approvals)
    .where(sql`status <> 'pending' AND audit_seq IS NULL`)
    .prepare();

  return {
    /** Where the chain ends; `undefined` before its first entry. */
    tail: (chain: AuditChain): AuditLink | undefined => newest.get(chain) ?? checkpoint.get({ chain }),
    /** Up to where the chain was forgotten. */
    checkpoint: (chain: AuditChain): typeof auditCheckpoints.$inferSelect | undefined => checkpoint.get({ chain }),
    /** The first entry of a chain of which nothing was forgotten. */
    first: (chain: AuditChain): AuditRow | undefined =>
      orm
        .select()
        .from(audit)
        .where(and(eq(audit.chain, chain), eq(audit.seq, 0)))
        .get(),
    /** Decided approvals in the order of their ids, each with the entry at the place that it names. */
    decided: (after: string | undefined, limit: number): DecidedPlace[] =>
      orm
        .select({
          id: approvals.id,
          chain: chainOfRow,
          auditSeq: approvals.auditSeq,
          at: approvals.resolvedAt,
          entry: audit.entry,
          oddColumn,
        })
        .from(approvals)
        .leftJoin(audit, and(eq(audit.chain, chainOfRow), eq(audit.seq, approvals.auditSeq)))
        .where(and(sql`status <> 'pending'`, after === undefined ? undefined : gt(approvals.id, after)))
        .orderBy(asc(approvals.id))
        .limit(limit)
        .all(),
    /** Which place in the chain an approval names, and when it says that it was delivered. */
    placeOf: (id: string): Pick<ApprovalRow, "auditSeq" | "deliveredAt"> | undefined => place.get({ id }),
    append: ({ chain, seq, approvalId, at, entry, hash }: AuditRow): void =>
      void insert.run(chain, seq, approvalId, at, entry, hash),
    /** In order, beginning after `after`. */
    page: (chain: AuditChain, after: number, limit: number): AuditRow[] => page.all({ chain, after, limit }),
    /** How many decisions are on record that no chain has. */
    countUnchained: (): number => unchained.get()?.count ?? 0,
    /** When the first entry was made, unless its decision is still awaited. */
    oldestAt: (chain: AuditChain): number | undefined => {
      const [first] = front.all({ chain, limit: 1 });
      return first?.isAwaited === 0 ? first.at : undefined;
    },
    /**
     * Forgets decisions with their entries, from the front of the chain, up to the last one before `before` among the
     * `limit` first; tells how many, and where the chain goes on. A clock that was set back leaves no entry behind.
     */
    forgetBefore: (
      chain: AuditChain,
      before: number,
      limit: number,
      chainedSince: number,
    ): { count: number; through: AuditLink } | undefined => {
      const first = inOneStep(front.all({ chain, limit }));
      const awaitedFrom = first.findIndex((row) => row.isAwaited === 1);
      const free = awaitedFrom < 0 ? first : first.slice(0, awaitedFrom);
      const old = free.slice(0, free.findLastIndex((row) => row.at < before) + 1);
      const last = old.at(-1);
      // Only what forgetting itself has written: to forget that would go on for ever, were the clock set back.
      if (!last || old.every(({ approvalId }) => approvalId === null)) return undefined;
      const through = { seq: last.seq, hash: last.hash };
      const forgotten = orm
        .select({ id: audit.approvalId })
        .from(audit)
        .where(and(eq(audit.chain, chain), lte(audit.seq, last.seq)));
      orm
        .delete(approvals)
        .where(and(sql`${approvals.id} IN ${forgotten}`, sql`audit_seq IS NOT NULL`))
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
      return { count: old.length, through };
    },
  };
}
