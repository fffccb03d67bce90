import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { ApprovalOutcome } from "../../../../src/storage/approvals.ts";
import type { ChainedOutcome } from "../../../../src/storage/sqlite/approvals/approvals.ts";
import { outcome } from "../../rows.ts";

/** An outcome for the SQLite queries, outside of every hash chain. */
export function unchainedOutcome(given: Partial<ApprovalOutcome> = {}): ChainedOutcome {
  return { ...outcome(given), auditSeq: null };
}

/** Adds sessions of the operator to this data dir, named s-1 and so on. */
export function addSessions(dataDir: string, count: number): void {
  using sqlite = new Database(join(dataDir, "plexus.db"));
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  const row = "printf('%08d', n), 's-' || n, 'operator', 'by_hand', 1000";
  sqlite.run(`${numbers} INSERT INTO sessions (id, name, owner, kind, created_at) SELECT ${row} FROM numbers`);
}
