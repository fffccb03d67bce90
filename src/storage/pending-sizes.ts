import type { Database } from "bun:sqlite";

/** How many approvals are pending, and how large their inputs are together. */
export type PendingSize = { count: number; bytes: number };

const NONE: PendingSize = { count: 0, bytes: 0 };
/** Beside the sessions, whose ids are UUIDs. */
const ALL = "all";

/**
 * Sums that cost the same however much is pending. SQLite keeps them up to date itself, on this connection, which is
 * the only one that writes: they follow every change, a rollback too, and are counted anew when the database is opened.
 */
const KEEP_SUMS = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE pending_sizes (scope TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO pending_sizes
    SELECT session_id, count(*), sum(octet_length(input)) FROM loopback_approvals WHERE status = 'pending' GROUP BY session_id;
  INSERT INTO pending_sizes SELECT '${ALL}', coalesce(sum(count), 0), coalesce(sum(bytes), 0) FROM pending_sizes;
  CREATE TEMP TRIGGER pending_added AFTER INSERT ON main.loopback_approvals WHEN new.status = 'pending' BEGIN
    INSERT INTO pending_sizes
      VALUES (new.session_id, 1, octet_length(new.input)), ('${ALL}', 1, octet_length(new.input))
      ON CONFLICT (scope) DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TEMP TRIGGER pending_decided AFTER UPDATE OF status ON main.loopback_approvals
  WHEN old.status = 'pending' AND new.status <> 'pending' BEGIN
    UPDATE pending_sizes SET count = count - 1, bytes = bytes - octet_length(old.input)
      WHERE scope IN (old.session_id, '${ALL}');
    DELETE FROM pending_sizes WHERE scope = old.session_id AND count = 0;
  END;
  CREATE TEMP TRIGGER pending_removed AFTER DELETE ON main.loopback_approvals WHEN old.status = 'pending' BEGIN
    UPDATE pending_sizes SET count = count - 1, bytes = bytes - octet_length(old.input)
      WHERE scope IN (old.session_id, '${ALL}');
    DELETE FROM pending_sizes WHERE scope = old.session_id AND count = 0;
  END;
`;

export function pendingSizeQueries(sqlite: Database) {
  sqlite.run(KEEP_SUMS);
  const byScope = sqlite.query<PendingSize, [string]>("SELECT count, bytes FROM pending_sizes WHERE scope = ?");
  return {
    ofSession: (sessionId: string): PendingSize => byScope.get(sessionId) ?? NONE,
    ofAll: (): PendingSize => byScope.get(ALL) ?? NONE,
  };
}
