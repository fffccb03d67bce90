import type { Waited } from "../../../src/contract/tools/wait-answers.ts";
import { ownerKey, type Principal } from "../../../src/core/access/principals.ts";
import type { Output, TurnRow } from "../../../src/storage/turns.ts";
import { runningTurn } from "../../storage/rows.ts";
import { END, type OpenedStorage, said, storedTurn } from "../../storage/suite/engine.ts";
import { stoppedClock } from "../open-core.ts";

export const waiting = {
  /** Longer than the tests may take, so that only a wake-up ends a wait in time. */
  timeoutMs: 60_000,
  limit: 100,
  signal: new AbortController().signal,
};

/** The turns whose ends the answer contains. */
export const turnIds = (waited: Waited) => (waited.type === "ok" ? waited.finished.map(({ turn_id }) => turn_id) : []);

/** The result of a call, and the child's next words. */
export const output = (text: string): Output => ({
  ...said(),
  events: [
    { type: "tool_result", tool_use_id: "x", output: "", is_error: true, askedAgain: undefined, isRefused: true },
    { type: "content", text },
  ],
});

type Given = { name?: string; owner?: Principal; text?: string; events?: Output["events"]; at?: number };

/** A running turn in a new session of this owner. */
export async function begunTurn(storage: OpenedStorage, { name, owner }: Given = {}) {
  return storedTurn(storage, { ...(name && { name }), owner: ownerKey(owner ?? { kind: "operator" }) });
}

/** Stores words of the child, then ends the turn. */
export async function endTurn(storage: OpenedStorage, turn: TurnRow, given: Given = {}): Promise<void> {
  const { text = "Done.", events = [{ type: "content", text }], at = stoppedClock().now() } = given;
  await storage.turns.appendIfRunning(turn, { ...said(), events }, at);
  await storage.turns.endIfRunning(turn, END, at);
}

/** An ended turn, in a new session or in the given one. */
export async function endedTurn(storage: OpenedStorage, given: Given & { sessionId?: string } = {}): Promise<TurnRow> {
  const turn =
    given.sessionId === undefined
      ? (await begunTurn(storage, given)).turn
      : await runningTurn(storage, { id: given.sessionId });
  await endTurn(storage, turn, given);
  return turn;
}
