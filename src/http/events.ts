import { Hono } from "hono";
import { z } from "zod";
import { type App, SlowReader } from "../app.ts";
import { errorFields } from "../log.ts";
import type { ChangeEvent } from "../schema/change.ts";
import { cutObject, MAX_RESULT_CHARS } from "../schema/cut.ts";
import { AppError } from "../schema/errors.ts";
import type { Env } from "./auth.ts";

const KEEP_ALIVE_MS = 15_000;
const RETRY_MS = 1_000;
const EventId = z.coerce.number().int().nonnegative();
const encoder = new TextEncoder();

/** Server-sent events: what happens, numbered; `Last-Event-ID` goes on where a reader stopped. */
export function eventRoutes(app: App) {
  return new Hono<Env>().get("/", (c) => {
    c.env.server?.timeout(c.req.raw, 0);
    const after = lastEventId(c.req.header("last-event-id") ?? c.req.query("last_event_id"));
    const gone = new AbortController();
    const signal = AbortSignal.any([c.req.raw.signal, gone.signal, app.closing]);
    const events = app.watching.follow(c.get("principal"), after, signal);
    let keepAlive: ReturnType<typeof setInterval> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        send(`retry: ${RETRY_MS}\n\n`);
        keepAlive = setInterval(() => send(": alive\n\n"), KEEP_ALIVE_MS);
      },
      // Read only when the client has taken what came before: what waits meanwhile is bounded by the subscription.
      async pull(controller) {
        const text = await nextText(events, app);
        if (text !== undefined) controller.enqueue(encoder.encode(text));
        if (text === undefined || text.startsWith("event: dropped")) {
          clearInterval(keepAlive);
          controller.close();
        }
      },
      cancel() {
        clearInterval(keepAlive);
        gone.abort();
      },
    });
    return new Response(body, {
      headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" },
    });
  });
}

async function nextText(events: ReturnType<App["watching"]["follow"]>, app: App): Promise<string | undefined> {
  try {
    const next = await events.next();
    if (next.done) return undefined;
    const { id, event } = next.value;
    return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(shortened(event))}\n\n`;
  } catch (cause) {
    if (!(cause instanceof SlowReader)) app.log.error("an event stream failed", errorFields(cause));
    const reason = cause instanceof SlowReader ? cause.message : "Plexus failed inside; its log has the details";
    return `event: dropped\ndata: ${JSON.stringify({ type: "dropped", reason })}\n\n`;
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
  const id = EventId.safeParse(given);
  if (!id.success) throw new AppError("invalid_arguments", "Last-Event-ID must be an id that this stream has sent.");
  return id.data;
}
