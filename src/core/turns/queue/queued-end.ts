import type { Storage } from "../../../storage/sqlite/database.ts";
import type { Announce } from "../../../storage/sqlite/writer.ts";

export type QueuedEnd = { status: "failed" | "cancelled"; error: string };

/** Ends a turn that no child was ever started for; `false` when it is not queued. Called in a transaction. */
export function endIfQueued(
  storage: Pick<Storage, "turns" | "changes">,
  announce: Announce,
  id: string,
  { status, error }: QueuedEnd,
  at: number,
): boolean {
  // It runs for this transaction alone, which nobody can see, so that it ends like any other.
  const turn = storage.turns.startIfQueued(id, at)?.turn;
  if (!turn) return false;
  storage.turns.appendIfRunning(id, [{ type: "error", message: error }]);
  storage.turns.endIfRunning(id, { status, error, usage: null, endedAt: at });
  const { owner, sessionId } = turn;
  announce(storage.changes.append({ kind: "turn_ended", owner, sessionId, subjectId: id, at }));
  return true;
}
