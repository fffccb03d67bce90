import type { Change, ChangeEvent } from "../../contract/change.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import { toChangeEvent } from "../approvals/approval-view.ts";
import { toTurnChange } from "../sessions/view.ts";
import { toUnaskedCall } from "../turns/unasked-calls.ts";

/** A change as it is told outside; `undefined` when what it tells of is no longer on record. */
export function readChange(storage: Storage, { kind, subjectId, sessionId, at }: Change): ChangeEvent | undefined {
  if (kind === "turn_queued" || kind === "turn_started" || kind === "turn_ended") {
    const turn = storage.turns.get(subjectId);
    const session = storage.sessions.get(sessionId);
    return turn && session && toTurnChange({ kind, at }, turn, session.name);
  }
  if (kind === "unasked_call") {
    const call = storage.unaskedCalls.get(subjectId);
    return call && { type: kind, ...toUnaskedCall(call) };
  }
  const row = storage.approvals.get(subjectId);
  return row && toChangeEvent(kind, row);
}
