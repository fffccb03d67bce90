import type { Context } from "hono";
import { type Holder, SlowReader } from "../../app.ts";
import { errorFields, type Log } from "../../log.ts";
import type { Env } from "../middleware/auth.ts";

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
export type SentEvent = { id: string | number; type: string; data: object };

type Source<T> = {
  stream: "events" | "session";
  follow(signal: AbortSignal): AsyncGenerator<T>;
  sent(value: T): SentEvent;
};
type Part = { text: string; isLast: boolean };
/** How often a silent stream says that it is there, and whether its reader may still hear it. */
type Alive = { keepAliveMs: number; isWelcome: () => boolean };

/**
 * Answers with server-sent events, until the reader leaves, its token ends, the server stops, or the source ends.
 * The server's idle limit stays on: the keep-alive satisfies it for whoever reads, and whoever has stopped reading is
 * cut off.
 */
export function answerEvents<T>(
  c: Context<Env>,
  { log, keepAliveMs, closing, count, isOver }: Streaming,
  source: Source<T>,
): Response {
  const gone = new AbortController();
  const events = source.follow(AbortSignal.any([c.req.raw.signal, gone.signal, closing, c.get("revoked")]));
  let counted: Disposable | undefined;
  const next = () => {
    // Not before somebody reads: the answer to a HEAD request is never read, and so never ends.
    counted ??= both(count(source.stream), c.get("held").stayOpen());
    return nextPart(events, source.sent, log);
  };
  const end = () => {
    counted?.[Symbol.dispose]();
    gone.abort();
    // One that waits for its reader, rather than for events, hears of no signal.
    void events.return(undefined).catch(() => undefined);
  };
  const isWelcome = () => {
    if (isOver(c.get("holder"))) gone.abort();
    return !gone.signal.aborted;
  };
  return new Response(readWhenTaken(next, { keepAliveMs, isWelcome }, end), { headers: HEADERS });
}

function both(...parts: [Disposable, Disposable]): Disposable {
  const stack = new DisposableStack();
  for (const part of parts) stack.use(part);
  return stack;
}

/** Takes the next event only when the client has taken all before it: what waits meanwhile is bounded by the source. */
function readWhenTaken(
  next: () => Promise<Part>,
  { keepAliveMs, isWelcome }: Alive,
  onEnd: () => void,
): ReadableStream {
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
          // Followed before the reader hears from us, so that nothing it does then can slip past.
          first = next();
          keepAlive = setInterval(
            () => isWelcome() && controller.desiredSize === 0 && send(": alive\n\n"),
            keepAliveMs,
          );
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

async function nextPart<T>(events: AsyncGenerator<T>, sent: (value: T) => SentEvent, log: Log): Promise<Part> {
  try {
    const { done, value } = await events.next();
    if (done) return { text: "", isLast: true };
    const { id, type, data } = sent(value);
    return { text: `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`, isLast: false };
  } catch (cause) {
    const isSlow = cause instanceof SlowReader;
    if (!isSlow) log.error("an event stream failed", errorFields(cause));
    const reason = isSlow ? cause.message : "Plexus failed inside; its log has the details";
    return { text: `event: dropped\ndata: ${JSON.stringify({ type: "dropped", reason })}\n\n`, isLast: true };
  }
}
