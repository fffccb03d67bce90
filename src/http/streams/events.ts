import type { Context } from "hono";
import { type Holder, SlowReader } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { errorFields, type Log } from "../../log.ts";
import { callerOf, type Env } from "../middleware/auth.ts";

const RETRY_MS = 1_000;
const HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" };
const encoder = new TextEncoder();

/** What all streams of the server need. */
export type Streaming = {
  log: Log;
  keepAliveMs: number;
  closing: AbortSignal;
  /** Counts a stream as open until disposed. */
  count: (stream: "events" | "session") => Disposable;
  /** Returns whether a token has expired, which fires no signal. */
  isOver: (holder: Holder) => boolean;
};
/** One event as it is sent; a reader resumes after its id. */
export type SentEvent<Data = unknown> = { id: string | number; type: string; data: Data };

/** The source of a stream's events, and the conversion of each to its sent form. */
export type EventSource<Data, Value = unknown> = {
  stream: "events" | "session";
  follow(signal: AbortSignal): AsyncGenerator<Value>;
  sent(value: Value): SentEvent<Data>;
};
/** Checks that `follow` and `sent` of a source fit together. */
export function eventsFrom<Data, Value>(source: EventSource<Data, Value>): EventSource<Data> {
  return source;
}

type Part = { text: string; isLast: boolean };
/** How often an idle stream sends a keep-alive, and whether the reader may still receive it. */
type Alive = { keepAliveMs: number; mayRead: () => boolean };

/**
 * Answers with server-sent events until the reader disconnects, its token ends, the server stops, or the source ends.
 * The server's idle limit stays on: keep-alives satisfy it while the client reads, and a client that has stopped
 * reading is disconnected.
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
    // Count the stream only when somebody reads it: the answer to a HEAD request is never read, and so would never end.
    counted ??= both(count(source.stream), c.get("held").stayOpen());
    return nextPart(events, source, log);
  };
  const end = () => {
    counted?.[Symbol.dispose]();
    gone.abort();
    // A source that is waiting for its reader does not see the signal, so return it too.
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

/** Takes the next event only when the client has read all before it; the source limits what is queued meanwhile. */
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
          // Begin to follow before the first byte is sent, so that the reader sees everything that it causes
          // afterwards.
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

/** Formats an event for the stream. */
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
