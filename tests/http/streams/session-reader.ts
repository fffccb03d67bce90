import { SessionEvent } from "../../../src/contract/sessions/session-view.ts";
import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";
import { fieldsOf, readBlocks } from "../support/event-reader.ts";

export type ReadSessionEvent = { id: string; told: SessionEvent };

/** A reader of `/api/v1/sessions/KEY/events`. */
export type SessionReader = AsyncDisposable & {
  response: Response;
  /** The next event; `undefined` at the end of the stream. */
  next(): Promise<ReadSessionEvent | undefined>;
  /** All events up to the last one of a turn, or to the end of the stream. */
  turn(): Promise<ReadSessionEvent[]>;
};

type Options = { token?: string; after?: string; query?: Record<string, string> };

export async function openSessionEvents(url: string, key: string, options: Options = {}): Promise<SessionReader> {
  const { token = OPERATOR_TOKEN, after, query = {} } = options;
  const connection = new AbortController();
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (after !== undefined) headers["last-event-id"] = after;
  const path = `/api/v1/sessions/${encodeURIComponent(key)}/events?${new URLSearchParams(query)}`;
  const response = await fetch(`${url}${path}`, { headers, signal: connection.signal });
  const blocks = readBlocks(response.body ?? new ReadableStream());

  async function next(): Promise<ReadSessionEvent | undefined> {
    for await (const block of { [Symbol.asyncIterator]: () => ({ next: () => blocks.next() }) }) {
      const { id = "", event, data = "" } = fieldsOf(block);
      if (event === undefined) continue;
      const told = SessionEvent.parse(JSON.parse(data));
      if (told.event.type !== event || id !== `${told.turn_id}~${told.seq}`)
        throw new Error(`the event ${id} named ${event} holds ${data}`);
      return { id, told };
    }
    return undefined;
  }

  return {
    response,
    next,
    async turn() {
      const read: ReadSessionEvent[] = [];
      for (;;) {
        const one = await next();
        if (one) read.push(one);
        if (!one || isLast(one)) return read;
      }
    },
    [Symbol.asyncDispose]: async () => connection.abort(),
  };
}

export function isLast({ told }: ReadSessionEvent): boolean {
  return told.event.type === "complete" || told.event.type === "error";
}
