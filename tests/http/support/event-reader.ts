import { ChangeEvent } from "../../../src/contract/change.ts";
import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";

export type ReadEvent = { id: number; event: ChangeEvent };

/** A reader of `/api/v1/events`, as a browser or a script would be. */
export type EventReader = AsyncDisposable & {
  response: Response;
  /** Lines that are neither an event nor empty: comments and the retry time. */
  asides: string[];
  /** The reason the server gave for ending the stream, if any. */
  dropped: string | undefined;
  /** The id of the last event read, after which a reader resumes. */
  lastId: number | undefined;
  /** The next event; `undefined` at the end of the stream. */
  next(): Promise<ReadEvent | undefined>;
  /** The next `count` events, or as many as come before the stream ends. */
  take(count: number): Promise<ReadEvent[]>;
};

type Options = { token?: string; after?: number | string };

export async function openEvents(url: string, { token = OPERATOR_TOKEN, after }: Options = {}): Promise<EventReader> {
  const connection = new AbortController();
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (after !== undefined) headers["last-event-id"] = String(after);
  const response = await fetch(`${url}/api/v1/events`, { headers, signal: connection.signal });
  const blocks = readBlocks(response.body ?? new ReadableStream());
  const reader: EventReader = {
    response,
    asides: [],
    dropped: undefined,
    lastId: typeof after === "number" ? after : undefined,
    async next() {
      for (;;) {
        const { done, value } = await blocks.next();
        if (done) return undefined;
        const { id, event, data } = fieldsOf(value);
        if (event === undefined) reader.asides.push(value);
        else if (event === "dropped") reader.dropped = data;
        else {
          reader.lastId = Number(id);
          const parsed = ChangeEvent.parse(JSON.parse(data ?? ""));
          if (parsed.type !== event) throw new Error(`an event named ${event} holds ${parsed.type}`);
          return { id: Number(id), event: parsed };
        }
      }
    },
    async take(count) {
      const events: ReadEvent[] = [];
      while (events.length < count) {
        const event = await reader.next();
        if (!event) break;
        events.push(event);
      }
      return events;
    },
    async [Symbol.asyncDispose]() {
      connection.abort();
    },
  };
  return reader;
}

/** The approval that an event is about; `undefined` for an event about a turn. */
export function approvalOf(read: ReadEvent | undefined): string | undefined {
  return read && "approval_id" in read.event ? read.event.approval_id : undefined;
}

/** The parts of a stream between empty lines. */
export async function* readBlocks(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    yield* blocks;
  }
  return undefined;
}

export function fieldsOf(block: string): { id?: string; event?: string; data?: string } {
  return Object.fromEntries(
    block
      .split("\n")
      .filter((line) => !line.startsWith(":"))
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
}
