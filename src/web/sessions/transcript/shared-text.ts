import type { StoredEvent } from "./entries.ts";
import { CHUNK, type Events } from "./transcript.ts";

/** A text that spans more chunks than this continues as another text. */
const MAX_SHARED = 40;

/**
 * The events that belong to a chunk: a text that begins in it with all of its pieces, without one that began before.
 */
export function ownEvents(at: number, eventsAt: (at: number) => Events): Events {
  const events = eventsAt(at);
  const before = isBoundary(at) ? undefined : textKind(eventsAt(at - 1)[CHUNK - 1]);
  const own = events.slice(piecesOf(before, events));
  const last = own.length > 0 ? textKind(events[CHUNK - 1]) : undefined;
  for (let next = at + 1; last !== undefined && !isBoundary(next); next++) {
    const further = eventsAt(next);
    const count = piecesOf(last, further);
    own.push(...further.slice(0, count));
    if (count < CHUNK) break;
  }
  return own;
}

function isBoundary(at: number): boolean {
  return at % MAX_SHARED === 0;
}

type TextKind = "content" | "thinking";

function textKind(stored: StoredEvent | undefined): TextKind | undefined {
  const type = stored?.event.type;
  return type === "content" || type === "thinking" ? type : undefined;
}

/** The number of leading events that continue such a text. */
function piecesOf(kind: TextKind | undefined, events: Events): number {
  if (kind === undefined) return 0;
  const other = Array.from(events).findIndex((stored) => textKind(stored) !== kind);
  return other < 0 ? events.length : other;
}
