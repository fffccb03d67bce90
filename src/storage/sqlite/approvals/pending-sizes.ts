import type { Database } from "bun:sqlite";
import type { PendingSize } from "../../approvals.ts";

const NONE: PendingSize = { count: 0, bytes: 0 };
const SUMS = "SELECT count(*) AS count, coalesce(sum(octet_length(input)), 0) AS bytes FROM loopback_approvals";

/** Sums over pending requests, along their indexes; the cost grows with the number of pending requests. */
export function pendingSizeQueries(sqlite: Database) {
  const ofSession = sqlite.query<PendingSize, [string]>(`${SUMS} WHERE session_id = ? AND status = 'pending'`);
  const ofOwner = sqlite.query<PendingSize, [string]>(`${SUMS} WHERE owner = ? AND status = 'pending'`);
  const ofAll = sqlite.query<PendingSize, []>(`${SUMS} WHERE status = 'pending'`);
  return {
    ofSession: (sessionId: string): PendingSize => ofSession.get(sessionId) ?? NONE,
    ofOwner: (owner: string): PendingSize => ofOwner.get(owner) ?? NONE,
    ofAll: (): PendingSize => ofAll.get() ?? NONE,
  };
}
