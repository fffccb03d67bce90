import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import { ApprovalFilter, Decision } from "../../contract/approvals/approval.ts";
import { cutApproval, MAX_RESULT_CHARS } from "../../contract/cut.ts";
import { Id } from "../../contract/values.ts";
import type { Env } from "../middleware/auth.ts";
import { jsonBody } from "../middleware/body.ts";
import { refuseInvalid } from "../middleware/errors.ts";

export const ApprovalQuery = z.strictObject({
  status: ApprovalFilter.optional(),
  session_id: Id.optional(),
  tool_name: z.string().min(1).max(512).optional(),
  /** Only those that were decided then or later, in Unix seconds. */
  since: z.coerce.number().int().nonnegative().optional(),
  /** `true` lists what built-in rules decided, too. */
  builtin: z.stringbool().optional(),
  /** Cuts each approval to about so many characters of JSON, head and tail. */
  max_chars: z.coerce.number().int().min(2_000).max(MAX_RESULT_CHARS).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: Id.optional(),
});

export function approvalRoutes(app: App) {
  return new Hono<Env>()
    .get("/", zValidator("query", ApprovalQuery, refuseInvalid), async (c) => {
      const {
        session_id: sessionId,
        tool_name: toolName,
        max_chars: maxChars,
        builtin: withBuiltin,
        ...page
      } = c.req.valid("query");
      const filter = { sessionId, toolName, withBuiltin, ...page };
      const { approvals: found, cursor } = await app.approvals.list(c.get("principal"), filter);
      const approvals = maxChars === undefined ? found : found.map((approval) => cutApproval(approval, maxChars));
      return c.json({ type: "ok", approvals, has_more: cursor !== null, cursor });
    })
    .get("/:id", async (c) =>
      c.json({ type: "ok", approval: await app.approvals.get(c.get("principal"), c.req.param("id")) }),
    )
    .get("/:id/context", async (c) =>
      c.json({ type: "ok", ...(await app.approvalContexts.get(c.get("principal"), c.req.param("id"))) }),
    )
    .post("/:id/respond", jsonBody, zValidator("json", Decision, refuseInvalid), async (c) =>
      c.json(await app.approvals.decide(c.get("principal"), c.req.param("id"), c.req.valid("json"))),
    );
}
