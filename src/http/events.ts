import { Hono } from "hono";
import type { App } from "../app.ts";
import type { ChangeEvent } from "../schema/change.ts";
import { cutObject, MAX_RESULT_CHARS } from "../schema/cut.ts";
import { AppError } from "../schema/errors.ts";
import type { Env } from "./auth.ts";
import { answerEvents, type Streaming } from "./event-stream.ts";

/** Server-sent events: what happens, numbered; `Last-Event-ID` goes on where a reader stopped. */
export function eventRoutes(app: App, streaming: Streaming) {
  return new Hono<Env>().get("/", (c) => {
    const after = lastEventId(c.req.header("last-event-id") ?? c.req.query("last_event_id"));
    return answerEvents(c, streaming, {
      follow: (signal) => app.watching.follow(c.get("principal"), after, signal),
      sent: ({ id, event }) => ({ id, type: event.type, data: shortened(event) }),
    });
  });
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
