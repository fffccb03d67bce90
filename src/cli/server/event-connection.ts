import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Server } from "./server-client.ts";

/** A server that says nothing for longer than three of its keep-alives is not there any more. */
const SILENT_MS = 50_000;

type Connecting = {
  server: Server;
  path: string;
  /** Behind which event to go on. */
  lastId: string | undefined;
  signal: AbortSignal;
  /** The server listens for us from now on. */
  onOpen?: () => void;
};

/** One connection to a stream of events, until the server or the wire ends it. */
export async function* eventConnection({ server, path, lastId, signal, onOpen }: Connecting) {
  using silence = watchSilence();
  const response = await server.fetch(path, {
    headers: lastId === undefined ? {} : { "Last-Event-ID": lastId },
    signal: AbortSignal.any([signal, silence.signal]),
  });
  const decoder = new TextDecoder();
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  let isOpen = false;
  for await (const chunk of response.body ?? []) {
    silence.broken();
    if (!isOpen) onOpen?.();
    isOpen = true;
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { id, event, data } of messages.splice(0)) {
      if (event === "dropped") return;
      if (id !== undefined) yield { id, data };
    }
  }
}

/** Aborts when nothing has been heard for too long. */
function watchSilence(): Disposable & { signal: AbortSignal; broken(): void } {
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(), SILENT_MS);
  return {
    signal: tooLong.signal,
    broken: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
