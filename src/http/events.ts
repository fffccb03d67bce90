import { Hono } from "hono";
import { type App, SlowReader } from "../app.ts";
import { errorFields } from "../log.ts";
import type { ChangeEvent } from "../schema/change.ts";
import { cutObject, MAX_RESULT_CHARS } from "../schema/cut.ts";
import { AppError } from "../schema/errors.ts";
import type { Env } from "./auth.ts";

const RETRY_MS = 1_000;
const HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" };
const encoder = new TextEncoder();

type Events = ReturnType<App["watching"]["follow"]>;
type Part = { text: string; isLast: boolean };

/**
 * Server-sent events: what happens, numbered; `Last-Event-ID` goes on where a reader stopped. The server's idle limit
 * stays on: the keep-alive satisfies it for whoever reads, and whoever has stopped reading is cut off.
 */
export function eventRoutes(app: App, keepAliveMs: number, closing: AbortSignal) {
  return new Hono<Env>().get("/", (c) => {
    const after = lastEventId(c.req.header("last-event-id") ?? c.req.query("last_event_id"));
    const gone = new AbortController();
    const signal = AbortSignal.any([c.req.raw.signal, gone.signal, closing, c.get("revoked")]);
    const events = app.watching.follow(c.get("principal"), after, signal);
    return new Response(readWhenTaken(app, events, keepAliveMs, gone), { headers: HEADERS });
  });
}

/** Takes the next event only when the client has taken all before it: what waits meanwhile is bounded by the subscription. */
function readWhenTaken(app: App, events: Events, keepAliveMs: number, gone: AbortController): ReadableStream {
  let keepAlive: ReturnType<typeof setInterval> | undefined;
  let first: Promise<Part> | undefined;
  const end = () => {
    clearInterval(keepAlive);
    gone.abort();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        if (!keepAlive) {
          // Followed before the reader hears from us, so that nothing it does then can slip past.
          first = nextPart(events, app);
          keepAlive = setInterval(() => controller.desiredSize === 0 && send(": alive\n\n"), keepAliveMs);
          return send(`retry: ${RETRY_MS}\n\n`);
        }
        const part = await (first ?? nextPart(events, app));
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

async function nextPart(events: Events, app: App): Promise<Part> {
  try {
    const { done, value } = await events.next();
    if (done) return { text: "", isLast: true };
    const data = JSON.stringify(shortened(value.event));
    return { text: `id: ${value.id}\nevent: ${value.event.type}\ndata: ${data}\n\n`, isLast: false };
  } catch (cause) {
    const isSlow = cause instanceof SlowReader;
    if (!isSlow) app.log.error("an event stream failed", errorFields(cause));
    const reason = isSlow ? cause.message : "Plexus failed inside; its log has the details";
    return { text: `event: dropped\ndata: ${JSON.stringify({ type: "dropped", reason })}\n\n`, isLast: true };
  }
}

function shortened(event: ChangeEvent): ChangeEvent {
  if (event.type !== "approval_requested") return event;
  const tool_input = cutObject(event.tool_input, MAX_RESULT_CHARS);
  if (tool_input === event.tool_input) return event;
  return { ...event, tool_input, truncated: true, input_size: JSON.stringify(event.tool_input).length };
}

function lastEventId(given: string | undefined): number | undefined {
  if (given === undefined || given === "") return undefined;
  const id = /^\d+$/.test(given) ? Number(given) : undefined;
  if (!Number.isSafeInteger(id))
    throw new AppError("invalid_arguments", "Last-Event-ID must be an id that this stream has sent.");
  return id;
}
