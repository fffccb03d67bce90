import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import type { App } from "../../app.ts";
import { Id } from "../../contract/values.ts";
import type { Env } from "../middleware/auth.ts";
import { refuseInvalid } from "../middleware/errors.ts";
import { PageQuery } from "./paging.ts";

export const UnaskedQuery = PageQuery.extend({ session_id: Id.optional(), turn_id: Id.optional() });

/** Calls that ran although Plexus had not allowed them. */
export function unaskedRoutes(app: App) {
  return new Hono<Env>().get("/", zValidator("query", UnaskedQuery, refuseInvalid), async (c) => {
    const { session_id: sessionId, turn_id: turnId, ...page } = c.req.valid("query");
    const { calls, cursor } = await app.unaskedCalls.list(c.get("principal"), { sessionId, turnId, ...page });
    return c.json({ type: "ok", calls, has_more: cursor !== null, cursor });
  });
}
