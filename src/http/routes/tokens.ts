import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import { Name } from "../../contract/values.ts";
import { type Env, operatorOnly, refusePages } from "../middleware/auth.ts";
import { jsonBody } from "../middleware/body.ts";
import { refuseInvalid } from "../middleware/errors.ts";

export const NewToken = z.strictObject({ name: Name });
/** Which tokens end together; only those of pages can. */
export const RevokedTokens = z.strictObject({ kind: z.literal("web") });

export function tokenRoutes(app: App) {
  const notByPages = refusePages("A page makes no tokens, which would outlive it: use `plexus token create NAME`.");
  return new Hono<Env>()
    .use(operatorOnly)
    .get("/", async (c) => c.json({ type: "ok", tokens: await app.tokens.listNamed() }))
    .post("/", notByPages, jsonBody, zValidator("json", NewToken, refuseInvalid), async (c) =>
      c.json({ type: "created", ...(await app.tokens.createNamed(c.req.valid("json").name)) }, 201),
    )
    .delete("/", zValidator("query", RevokedTokens, refuseInvalid), async (c) =>
      c.json({ type: "signed_out", pages: await app.signIn.endAll() }),
    )
    .delete("/:name", async (c) => c.json({ type: "revoked", ...(await app.tokens.revoke(c.req.param("name"))) }));
}
