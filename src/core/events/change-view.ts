import type { Change, ChangeEvent } from "../../contract/change.ts";
import type { Storage } from "../../storage/storage.ts";
import { toChangeEvent } from "../approvals/approval-view.ts";
import { toTurnChange } from "../sessions/view.ts";
import { toUnaskedCall } from "../turns/unasked-calls.ts";

/** The event for a change; `undefined` if its subject is no longer stored. */
export async function readChange(
  storage: Pick<Storage, "approvals" | "sessions" | "turns" | "unaskedCalls">,
  { kind, subjectId, sessionId, at }: Change,
): Promise<ChangeEvent | undefined> {
  if (kind === "turn_queued" || kind === "turn_started" || kind === "turn_ended") {
    const turn = await storage.turns.get(subjectId);
    const session = await storage.sessions.get(sessionId);
    return turn && session && toTurnChange({ kind, at }, turn, session.name);
  }
  if (kind === "unasked_call") {
    const call = await storage.unaskedCalls.get(subjectId);
    return call && { type: kind, ...toUnaskedCall(call) };
  }
  const row = await storage.approvals.get(subjectId);
  return row && toChangeEvent(kind, row);
}
