import type { TurnEvent } from "../../src/contract/sessions/turn.ts";
import { newSession } from "../storage/rows.ts";
import { openDirect } from "../storage/sqlite/direct.ts";

type Events = { prompt?: string | undefined; length: number; at: (seq: number) => TurnEvent };
type StoredTurn = { prompt?: string; events: TurnEvent[] };

/** A turn that is over, with so many events. */
export function storeTranscript(dataDir: string, count: number): string {
  return storeEvents(dataDir, [{ length: count, at: eventAt }]).sessionId;
}

/** A turn that is over, with these events after its start. */
export function storeTurn(dataDir: string, events: TurnEvent[], at = Date.now()): string {
  return storeTurns(dataDir, [{ events }], at).sessionId;
}

/** Turns that are over, each with its events after its start. */
export function storeTurns(
  dataDir: string,
  turns: StoredTurn[],
  at = Date.now(),
): { sessionId: string; turnIds: string[] } {
  return storeEvents(
    dataDir,
    turns.map(({ prompt, events }) => ({
      prompt,
      length: events.length + 1,
      at: (seq) => events[seq - 1] ?? eventAt(0),
    })),
    at,
  );
}

function storeEvents(
  dataDir: string,
  turns: Events[],
  startedAt = Date.now(),
): { sessionId: string; turnIds: string[] } {
  using direct = openDirect(dataDir);
  const session = newSession({ name: "long", kind: "managed", createdAt: Date.now() });
  direct.sessions.create(session);
  const turnIds = turns.map((events) => {
    const turnId = Bun.randomUUIDv7();
    const position = events.prompt === undefined ? null : Bun.randomUUIDv7();
    if (position !== null)
      direct.nodes.add({
        id: position,
        treeId: session.id,
        parentId: null,
        role: "user",
        content: { type: "text", text: events.prompt },
        createdAt: startedAt,
      });
    const at = (seq: number): TurnEvent =>
      seq === 0 ? { type: "start", id: turnId, user_position: position } : events.at(seq);
    const turn = { id: turnId, sessionId: session.id, owner: "operator", ephemeral: false, startedAt };
    direct.turns.createIfNoneRuns({ ...turn, checkpoint: {} });
    const batch = 10_000;
    for (let from = 0; from < events.length; from += batch) {
      const some = Array.from({ length: Math.min(batch, events.length - from) }, (_, offset) => at(from + offset));
      direct.write(() => direct.turns.appendEventsIfRunning(turnId, some, startedAt));
    }
    const end = { status: "complete", error: null, usage: null, endedAt: Date.now() } as const;
    direct.turns.endIfRunning(turnId, end);
    return turnId;
  });
  return { sessionId: session.id, turnIds };
}

function eventAt(seq: number): TurnEvent {
  const id = `toolu_${seq}`;
  if (seq === 0) return { type: "start", id: "turn", user_position: null };
  if (seq % 3 === 0) return { type: "tool_use", tool_name: "Bash", tool_use_id: id, input: { command: `make ${seq}` } };
  if (seq % 3 === 1)
    return { type: "tool_result", tool_use_id: id, output: `line ${seq}.`, is_error: false, approval_id: null };
  return { type: "content", text: `line ${seq}.` };
}
