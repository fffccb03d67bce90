import { createParser, type EventSourceMessage } from "eventsource-parser";
import { Refused, send } from "./request.ts";
import { authorization } from "./token.ts";

const FIRST_RETRY_MS = 300;
const LONGEST_RETRY_MS = 5_000;
/** The server breaks the silence every 15 seconds; after this long it is gone without a word. */
const SILENCE_MS = 40_000;

type Following = {
  path: string;
  /** Where an earlier reader stopped. */
  lastEventId?: string | undefined;
  /** The server listens for us now: what happens from here on is told, and `missed` says whether some may not be. */
  onOpen?: (missed: boolean) => void;
  onEvent: (event: EventSourceMessage) => void;
  onLost?: (cause: unknown) => void;
  signal: AbortSignal;
};

/** Reads a stream of events for as long as it takes, going on after each break right behind the last one that came. */
export async function followEvents(following: Following): Promise<void> {
  const { signal } = following;
  let { lastEventId } = following;
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      await readOnce({
        ...following,
        lastEventId,
        onOpen: (missed) => {
          retryMs = FIRST_RETRY_MS;
          following.onOpen?.(missed);
        },
        onEvent: (event) => {
          lastEventId = event.id ?? lastEventId;
          following.onEvent(event);
        },
      });
    } catch (cause) {
      if (signal.aborted) return;
      following.onLost?.(cause);
      // A position that the server does not know any more: begin anew.
      if (cause instanceof Refused && cause.status === 422) lastEventId = undefined;
    }
    await pause(retryMs * (0.75 + Math.random() / 2), signal);
    retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
  }
}

async function readOnce({ path, lastEventId, onOpen, onEvent, signal }: Following): Promise<void> {
  const silence = new AbortController();
  const over = AbortSignal.any([signal, silence.signal]);
  const headers = { ...authorization(), ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }) };
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await send(path, { headers, signal: over });
    const parser = createParser({ onEvent });
    const decoder = new TextDecoder();
    let isOpen = false;
    // Not every browser can iterate over a stream.
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      if (!isOpen) onOpen?.(lastEventId === undefined);
      isOpen = true;
      parser.feed(decoder.decode(read.value, { stream: true }));
    }
    throw new Refused(0, "The stream ended.");
  } finally {
    clearTimeout(timer);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
