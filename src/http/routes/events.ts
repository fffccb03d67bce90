import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import { cutChange } from "../../contract/cut.ts";
import { AppError } from "../../contract/errors.ts";
import type { Env } from "../middleware/auth.ts";
import { refuseInvalid } from "../middleware/errors.ts";
import { answerEvents, type Streaming } from "./event-stream.ts";

/** For those who can't send the header. */
export const ReplayQuery = z.looseObject({ last_event_id: z.string().optional() });

/** Server-sent events: what happens, numbered; `Last-Event-ID` goes on where a reader stopped. */
export function eventRoutes(app: App, streaming: Streaming) {
  return new Hono<Env>().get("/", zValidator("query", ReplayQuery, refuseInvalid), (c) => {
    const after = lastEventId(c.req.header("last-event-id") ?? c.req.valid("query").last_event_id);
    return answerEvents(c, streaming, {
      stream: "events",
      follow: (signal) => app.eventFeed.follow(c.get("principal"), after, signal),
      sent: ({ id, event }) => ({ id, type: event.type, data: cutChange(event) }),
    });
  });
}

function lastEventId(given: string | undefined): number | undefined {
  if (given === undefined || given === "") return undefined;
  const id = /^\d+$/.test(given) ? Number(given) : undefined;
  if (!Number.isSafeInteger(id))
    throw new AppError("invalid_arguments", "Last-Event-ID must be an id that this stream has sent.");
  return id;
}
