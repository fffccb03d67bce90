import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { App, Session } from "../../app.ts";
import { AppError } from "../../contract/errors.ts";
import { Id } from "../../contract/values.ts";
import type { Env } from "../middleware/auth.ts";
import { refuseInvalid } from "../middleware/errors.ts";
import { answerEvents, type Streaming } from "./event-stream.ts";

export const StreamQuery = z.strictObject({
  turn_id: Id.optional(),
  last_event_id: z.string().optional(),
  follow: z.enum(["true", "false"]).default("true"),
});

/** What happens in one session, over its turns; `Last-Event-ID` goes on right behind what a reader has. */
export function sessionEventRoutes(app: App, streaming: Streaming) {
  return new Hono<Env>().get("/:key/events", zValidator("query", StreamQuery, refuseInvalid), async (c) => {
    const session = await app.sessions.require(c.get("principal"), c.req.param("key"));
    const { turn_id, last_event_id, follow } = c.req.valid("query");
    const last = c.req.header("last-event-id") || last_event_id;
    const from = last ? await behind(app, session, last) : await app.sessionStream.beginning(session, turn_id);
    return answerEvents(c, streaming, {
      stream: "session",
      follow: (signal) => app.sessionStream.follow(session, from, { isLive: follow === "true", signal }),
      sent: (told) => ({ id: `${told.turn_id}~${told.seq}`, type: told.event.type, data: told }),
    });
  });
}

async function behind(app: App, session: Session, lastEventId: string) {
  const [, turnId = "", seq] = /^([^~]{1,64})~(\d{1,15})$/.exec(lastEventId) ?? [];
  const position = await app.sessionStream.behind(session, { turnId, seq: Number(seq) });
  if (position) return position;
  throw new AppError("invalid_arguments", "Last-Event-ID must be an id that this stream has sent.");
}
