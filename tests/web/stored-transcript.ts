import type { TurnEvent } from "../../src/contract/sessions/turn.ts";
import { newSession } from "../storage/rows.ts";
import { openDirect } from "../storage/sqlite/direct.ts";

/** A turn that is over, with so many events. */
export function storeTranscript(dataDir: string, count: number): Promise<string> {
  return storeEvents(dataDir, { length: count, at: eventAt });
}

/** A turn that is over, with these events after its start. */
export function storeTurn(dataDir: string, events: TurnEvent[]): Promise<string> {
  const all = [eventAt(0), ...events];
  return storeEvents(dataDir, { length: all.length, at: (seq) => all[seq] ?? eventAt(seq) });
}

async function storeEvents(dataDir: string, events: { length: number; at: (seq: number) => TurnEvent }) {
  using direct = openDirect(dataDir);
  const session = newSession({ name: "long", kind: "managed", createdAt: Date.now() });
  const turnId = Bun.randomUUIDv7();
  direct.sessions.create(session);
  const turn = { id: turnId, sessionId: session.id, owner: "operator", ephemeral: false, startedAt: Date.now() };
  direct.turns.createIfNoneRuns({ ...turn, checkpoint: {} });
  const batch = 10_000;
  for (let from = 0; from < events.length; from += batch) {
    const some = Array.from({ length: Math.min(batch, events.length - from) }, (_, at) => events.at(from + at));
    direct.write(() => direct.turns.appendEventsIfRunning(turnId, some));
  }
  const end = { status: "complete", error: null, usage: null, endedAt: Date.now() } as const;
  direct.turns.endIfRunning(turnId, end);
  return session.id;
}

function eventAt(seq: number): TurnEvent {
  const id = `toolu_${seq}`;
  if (seq === 0) return { type: "start", id: "turn", user_position: null };
  if (seq % 3 === 0) return { type: "tool_use", tool_name: "Bash", tool_use_id: id, input: { command: `make ${seq}` } };
  if (seq % 3 === 1)
    return { type: "tool_result", tool_use_id: id, output: `line ${seq}.`, is_error: false, approval_id: null };
  return { type: "content", text: `line ${seq}.` };
}
