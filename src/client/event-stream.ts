import { eventsIn } from "../contract/event-stream.ts";
import { Refused } from "../contract/refusals/refused.ts";
import { pause } from "./pause.ts";

const RETRY_MS = { first: 100, most: 2_000 };
/** The server sends a keep-alive every 15 seconds; after three missed ones the connection counts as broken. */
const SILENCE_MS = 50_000;

export type EventStreamNeed = {
  /** Opens a connection that begins after the last event. */
  open: (options: { headers: Record<string, string>; signal: AbortSignal }) => Promise<Response>;
  /** The id of the last event that an earlier reader got. */
  lastEventId?: string | undefined;
  /** Whether the end of the response is the end of the events, not a broken connection. */
  endsWithResponse?: boolean;
  /** Called when the stream is open; `isGapless` if the server also sends the missed events. */
  onOpen?: (isGapless: boolean) => void;
  /** Called when the connection broke or could not be made; an exception thrown here ends the stream. */
  onLost?: (cause: unknown) => void;
  signal: AbortSignal;
};

/** Yields the JSON of each event until the caller stops; after a break, it continues after the last event. */
export async function* createEventStream(need: EventStreamNeed): AsyncGenerator<unknown> {
  const { open, endsWithResponse = false, onOpen, onLost, signal } = need;
  let { lastEventId } = need;
  let retryMs = RETRY_MS.first;
  while (!signal.aborted) {
    const silence = createSilence();
    let failure: unknown;
    try {
      const isGapless = lastEventId !== undefined;
      const headers = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
      const response = await open({ headers, signal: AbortSignal.any([signal, silence.signal]) });
      let isOpen = false;
      const onHeard = () => {
        silence.broken();
        if (isOpen) return;
        isOpen = true;
        retryMs = RETRY_MS.first;
        onOpen?.(isGapless);
      };
      let isDropped = false;
      for await (const { id, event, data } of eventsIn(response, onHeard)) {
        isDropped = event === "dropped";
        if (isDropped) break;
        if (id === undefined) continue;
        lastEventId = id;
        yield parsed(data);
      }
      if (endsWithResponse && !isDropped) return;
    } catch (cause) {
      failure = cause;
    } finally {
      silence.end();
    }
    if (signal.aborted) return;
    onLost?.(failure);
    // The server doesn't know the event id, for example because the database was restored: begin anew.
    if (failure instanceof Refused && failure.code === "invalid_arguments") lastEventId = undefined;
    await pause(retryMs * (0.75 + Math.random() / 2), signal);
    retryMs = Math.min(2 * retryMs, RETRY_MS.most);
  }
}

/** Aborts after too long a silence. */
function createSilence() {
  const tooLong = new AbortController();
  const start = () => setTimeout(() => tooLong.abort(), SILENCE_MS);
  let timer = start();
  return {
    signal: tooLong.signal,
    broken(): void {
      clearTimeout(timer);
      timer = start();
    },
    end: () => clearTimeout(timer),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
