import { eventsIn } from "../contract/event-stream.ts";
import { Refused } from "../contract/refusals/refused.ts";
import { pause } from "./pause.ts";

const RETRY_MS = { first: 100, most: 2_000 };
/** The server breaks the silence every 15 seconds; after three times that it is gone without a word. */
const SILENCE_MS = 50_000;

export type EventStreamNeed = {
  /** Opens one connection, behind the event that came last. */
  open: (options: { headers: Record<string, string>; signal: AbortSignal }) => Promise<Response>;
  /** Where an earlier reader stopped. */
  lastEventId?: string | undefined;
  /** Whether the end of the response is the end of the events, and not a connection that broke. */
  endsWithResponse?: boolean;
  /** The server tells what happens from now on; `isGapless` where it tells what was missed too. */
  onOpen?: (isGapless: boolean) => void;
  /** The connection broke, or none could be made; what this throws ends the stream. */
  onLost?: (cause: unknown) => void;
  signal: AbortSignal;
};

/** The JSON of each event, for as long as somebody listens; after a break it goes on right behind the last one. */
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
    // A place that the server does not know, such as one in a database that was restored since: begin anew.
    if (failure instanceof Refused && failure.code === "invalid_arguments") lastEventId = undefined;
    await pause(retryMs * (0.75 + Math.random() / 2), signal);
    retryMs = Math.min(2 * retryMs, RETRY_MS.most);
  }
}

/** Aborts when nothing has been heard for too long. */
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
