import { createParser, type EventSourceMessage } from "eventsource-parser";

/** Yields the server-sent events of a response until it ends; calls `onHeard` for every chunk, comments included. */
export async function* eventsIn(response: Response, onHeard = () => {}): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  // Not every browser can iterate over a stream.
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      onHeard();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    // Close the connection if the caller stops early; a failed one is already closed.
    await reader?.cancel().catch(() => undefined);
  }
}
