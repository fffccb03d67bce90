import { eventsIn } from "../../contract/event-stream.ts";

type Listener = {
  /** Called for every chunk that arrives. */
  onHeard?: () => void;
  /** Called with each id by which the stream can be resumed. */
  onEventId?: ((id: string) => void) | undefined;
};

/** Yields the JSON of each message of an answer; a broken stream ends it like a finished one. */
export async function* messagesOf(
  response: Response,
  { onHeard, onEventId = () => {} }: Listener = {},
): AsyncGenerator<unknown> {
  try {
    if (response.headers.get("content-type")?.startsWith("application/json")) {
      yield await response.json();
      return;
    }
    for await (const { id, data } of eventsIn(response, onHeard)) {
      if (id !== undefined) onEventId(id);
      const message = parsed(data);
      if (message !== undefined) yield message;
    }
  } catch {
    return;
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
