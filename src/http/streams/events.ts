import type { Context } from "hono";
import { type Holder, SlowReader } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { errorFields, type Log } from "../../log.ts";
import { callerOf, type Env } from "../middleware/auth.ts";

const RETRY_MS = 1_000;
const HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" };
const encoder = new TextEncoder();

/** What every stream of the server has in common. */
export type Streaming = {
  log: Log;
  keepAliveMs: number;
  closing: AbortSignal;
  /** Counts a stream as open until disposed. */
  count: (stream: "events" | "session") => Disposable;
  /** Tells whether a token has ended by itself, which no signal does. */
  isOver: (holder: Holder) => boolean;
};
/** One event as it is sent: its id is what a reader resumes after. */
export type SentEvent<Data = unknown> = { id: string | number; type: string; data: Data };

/** Where the events of a stream come from, and how each of them is sent. */
export type EventSource<Data, Value = unknown> = {
  stream: "events" | "session";
  follow(signal: AbortSignal): AsyncGenerator<Value>;
  sent(value: Value): SentEvent<Data>;
};
/** Ties what is followed to how it is sent. */
export function eventsFrom<Data, Value>(source: EventSource<Data, Value>): EventSource<Data> {
  return source;
}

type Part = { text: string; isLast: boolean };
/** How often an idle stream sends a keep-alive, and whether its reader may still have it. */
type Alive = { keepAliveMs: number; mayRead: () => boolean };

/**
 * Answers with server-sent events, until the reader leaves, its token ends, the server stops, or the source ends.
 * The server's idle limit stays on: keep-alives satisfy it for a client that reads, and a client that has stopped reading
 * is cut off.
 */
export function answerEvents(
  c: Context<Env>,
  { log, keepAliveMs, closing, count, isOver }: Streaming,
  source: EventSource<unknown>,
): Response {
  const { holder, revoked } = callerOf(c.get("caller"));
  const gone = new AbortController();
  const events = source.follow(AbortSignal.any([c.req.raw.signal, gone.signal, closing, revoked]));
  let counted: Disposable | undefined;
  const next = () => {
    // Not before somebody reads: the answer to a HEAD request is never read, and so never ends.
    counted ??= both(count(source.stream), c.get("held").stayOpen());
    return nextPart(events, source, log);
  };
  const end = () => {
    counted?.[Symbol.dispose]();
    gone.abort();
    // A source that waits for its reader, rather than for events, does not notice the signal.
    void events.return(undefined).catch(() => undefined);
  };
  const mayRead = () => {
    if (isOver(holder)) gone.abort();
    return !gone.signal.aborted;
  };
  return new Response(readWhenTaken(next, { keepAliveMs, mayRead }, end), { headers: HEADERS });
}

function both(...parts: [Disposable, Disposable]): Disposable {
  const stack = new DisposableStack();
  for (const part of parts) stack.use(part);
  return stack;
}

/** Takes the next event only when the client has read all before it: the source bounds what waits meanwhile. */
function readWhenTaken(next: () => Promise<Part>, { keepAliveMs, mayRead }: Alive, onEnd: () => void): ReadableStream {
  let keepAlive: ReturnType<typeof setInterval> | undefined;
  let first: Promise<Part> | undefined;
  const end = () => {
    clearInterval(keepAlive);
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        if (!keepAlive) {
          // Followed before the first byte is sent, so that the reader misses nothing that it causes afterwards.
          first = next();
          keepAlive = setInterval(() => mayRead() && controller.desiredSize === 0 && send(": alive\n\n"), keepAliveMs);
          return send(`retry: ${RETRY_MS}\n\n`);
        }
        const part = await (first ?? next());
        first = undefined;
        if (part.text) send(part.text);
        if (!part.isLast) return;
        end();
        controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** An event as the lines of a stream. */
export function eventText({ id, type, data }: SentEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

async function nextPart(events: AsyncGenerator, source: EventSource<unknown>, log: Log): Promise<Part> {
  try {
    const { done, value } = await events.next();
    if (done) return { text: "", isLast: true };
    return { text: eventText(source.sent(value)), isLast: false };
  } catch (cause) {
    const isSlow = cause instanceof SlowReader;
    if (!isSlow) log.error("an event stream failed", errorFields(cause));
    const reason = isSlow ? cause.message : "Plexus failed inside; its log has the details";
    return { text: `event: dropped\ndata: ${JSON.stringify({ type: "dropped", reason })}\n\n`, isLast: true };
  }
}

export function unknownEventId(): AppError {
  return new AppError("invalid_arguments", "Last-Event-ID must be an id that this stream has sent.");
}
