import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import type { Env } from "../middleware/auth.ts";
import { refuseInvalid } from "../middleware/errors.ts";
import { PageQuery } from "./paging.ts";

export const EventsQuery = PageQuery.omit({ cursor: true }).extend({
  from_seq: z.coerce.number().int().nonnegative().default(0),
});

/** Turns, and what happened in them, in full. */
export function turnRoutes(app: App) {
  return new Hono<Env>()
    .get("/:turn_id", async (c) => {
      const turn = await app.sessionStream.requireTurn(c.get("principal"), c.req.param("turn_id"));
      return c.json({ type: "ok", turn: await app.sessionViews.turn(turn) });
    })
    .get("/:turn_id/events", zValidator("query", EventsQuery, refuseInvalid), async (c) => {
      const turn = await app.sessionStream.requireTurn(c.get("principal"), c.req.param("turn_id"));
      const { from_seq, limit } = c.req.valid("query");
      const events = await app.sessionStream.page(turn, from_seq, limit);
      const { status, event_count } = await app.sessionViews.turn(turn);
      const has_more = (events.at(-1)?.seq ?? event_count) + 1 < event_count;
      return c.json({ type: "ok", turn_id: turn.id, status, events, total_events: event_count, has_more });
    });
}
