import { expect } from "bun:test";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import type { ToolAnswerOf } from "../mcp/tool-answers.ts";

export type EventOf<T extends TurnEvent["type"]> = Extract<TurnEvent, { type: T }>;

/** The events of this type, in order. */
export function eventsOf<T extends TurnEvent["type"]>(events: TurnEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** Everything that the child said. */
export function textOf(events: TurnEvent[]): string {
  return eventsOf(events, "content")
    .map(({ text }) => text)
    .join("");
}

export function bash(command: string, id?: string) {
  return { name: "Bash", input: { command, description: "a command" }, ...(id && { id }) };
}

/** Reads page by page, as a parent would. The numbers must be 0, 1, 2, … without a gap. */
export async function allEvents(
  read: (from: number) => Promise<ToolAnswerOf<"claudecode_poll">>,
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for (let more = true; more; ) {
    const page = await read(events.length);
    for (const { seq, event } of page.events) {
      expect(seq).toBe(events.length);
      events.push(event);
    }
    more = page.has_more;
    if (!more) expect(events).toHaveLength(page.total_events);
  }
  return events;
}
