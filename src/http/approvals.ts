import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { App } from "../app.ts";
import { ApprovalStatus, Decision } from "../schema/approval.ts";
import { Id } from "../schema/values.ts";
import type { Env } from "./auth.ts";
import { jsonBody } from "./body.ts";
import { refuseInvalid } from "./errors.ts";

const ListQuery = z.strictObject({
  status: ApprovalStatus.optional(),
  session_id: Id.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: Id.optional(),
});

export function approvalRoutes(app: App) {
  return new Hono<Env>()
    .get("/", zValidator("query", ListQuery, refuseInvalid), (c) => {
      const { session_id: sessionId, ...page } = c.req.valid("query");
      const { approvals, cursor } = app.approvals.list(c.get("principal"), { sessionId, ...page });
      return c.json({ type: "ok", approvals, has_more: cursor !== null, cursor });
    })
    .get("/:id", (c) => c.json({ type: "ok", approval: app.approvals.get(c.get("principal"), c.req.param("id")) }))
    .post("/:id/respond", jsonBody, zValidator("json", Decision, refuseInvalid), async (c) =>
      c.json(await app.approvals.decide(c.get("principal"), c.req.param("id"), c.req.valid("json"))),
    );
}
