import type { Database } from "bun:sqlite";
import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import type { AuditChain, AuditMark } from "../../../contract/audit.ts";
import type { ApprovalPlace, AuditLink, AuditRow, DecidedPlace } from "../../audit.ts";
import { entryIn } from "../../record/audit-entry.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals, audit } from "../tables.ts";
import { auditFrontQueries } from "./audit-front.ts";

export type AuditQueries = ReturnType<typeof auditQueries>;

/**
 * Compares the stored number: Drizzle reads everything but 1 as `false`, and a row with such a number would be in no
 * list.
 */
const chainOfRow = sql<AuditChain | null>`CASE is_builtin WHEN 0 THEN 'decisions' WHEN 1 THEN 'builtin' END`;
const oddColumn = sql<string | null>`CASE WHEN is_builtin NOT IN (0, 1) THEN 'is_builtin'
  WHEN interrupt NOT IN (0, 1) THEN 'interrupt'
  WHEN audit_seq IS NULL AND input_cut_at IS NOT NULL THEN 'input_cut_at' END`;

/** Queries on the hash chains. Those that write run inside a transaction of the writer. */
export function auditQueries(orm: Orm, sqlite: Database) {
  const at = sql.placeholder;
  const front = auditFrontQueries(orm);
  // Every decision runs both, so they go around Drizzle, whose overhead would be measurable.
  const newest = sqlite.query<AuditLink, [string]>(
    "SELECT seq, hash FROM audit WHERE chain = ? ORDER BY seq DESC LIMIT 1",
  );
  const insert = sqlite.query<never, [string, number, string | null, number, string, string]>(
    "INSERT INTO audit (chain, seq, approval_id, at, entry, hash) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const newestMark = orm
    .select({ entry: audit.entry })
    .from(audit)
    .where(and(eq(audit.chain, at("chain")), sql`approval_id IS NULL`, sql`entry NOT LIKE '{"kind":"cut"%'`))
    .orderBy(desc(audit.seq))
    .limit(1)
    .prepare();
  const place = orm
    .select({
      auditSeq: approvals.auditSeq,
      deliveredAt: approvals.deliveredAt,
      inputCutAt: approvals.inputCutAt,
      entry: audit.entry,
    })
    .from(approvals)
    .leftJoin(audit, and(eq(audit.chain, at("chain")), eq(audit.seq, approvals.auditSeq)))
    .where(eq(approvals.id, at("id")))
    .prepare();
  // Name the index that holds only unchained decisions: SQLite would choose a larger one with all decisions.
  const unchained = sqlite.query<{ count: number }, []>(
    "SELECT count(*) AS count FROM loopback_approvals INDEXED BY approvals_unchained WHERE status <> 'pending' AND audit_seq IS NULL",
  );

  return {
    ...front,
    /** Returns the last entry of the chain; `undefined` before its first. */
    tail: (chain: AuditChain): AuditLink | undefined => newest.get(chain) ?? front.checkpoint(chain),
    /** Returns the newest entry that says when the chain began. */
    mark: (chain: AuditChain): AuditMark | undefined => {
      const entry = entryIn(newestMark.get({ chain })?.entry ?? "");
      return entry?.kind === "begins" || entry?.kind === "forgotten" ? entry : undefined;
    },
    /** Returns decided approvals by id, each with the entry at the position that it names. */
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
    placeOf: (chain: AuditChain, id: string): ApprovalPlace | undefined => place.get({ chain, id }),
    append: ({ chain, seq, approvalId, at, entry, hash }: AuditRow): void =>
      void insert.run(chain, seq, approvalId, at, entry, hash),
    /** Counts the chain's entries, without its first. */
    length: (chain: AuditChain): number =>
      ((newest.get(chain) ?? front.checkpoint(chain))?.seq ?? 0) - (front.checkpoint(chain)?.seq ?? 0),
    /** Counts the decisions that are in no chain. */
    countUnchained: (): number => unchained.get()?.count ?? 0,
  };
}
