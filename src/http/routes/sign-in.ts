import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import type { App } from "../../app.ts";
import { AppError } from "../../contract/errors.ts";
import { SignInBody } from "../../contract/sign-in.ts";
import { VERSION } from "../../version.ts";
import { createWrongTokenLimit, type Env, refusePages } from "../middleware/auth.ts";
import { jsonBody } from "../middleware/body.ts";
import { refuseInvalid } from "../middleware/errors.ts";

export const SIGN_IN_PATH = "/api/v1/sign-in";

/** The one thing that can be asked for without a token: a token, for a code that somebody with one has made. */
export function signInRoute(app: App) {
  const wrong = createWrongTokenLimit();
  return new Hono<Env>().post("/", jsonBody, zValidator("json", SignInBody, refuseInvalid), async (c) => {
    const signedIn = await app.signIn.redeem(c.req.valid("json").code);
    if (signedIn) return c.json({ type: "signed_in", ...signedIn });
    wrong.count();
    throw new AppError("unauthorized", "This code was used before, or is too old: `plexus open` makes a new one.");
  });
}

/** Who calls, a code for a page of theirs, and the end of one. */
export function callerRoutes(app: App) {
  const notByPages = refusePages("A page signs no other page in, which would outlive it: use `plexus open`.");
  return new Hono<Env>()
    .get("/", (c) => c.json({ type: "ok", name: app.nameOf(c.get("principal")), version: VERSION }))
    .post("/codes", notByPages, async (c) => {
      const principal = c.get("principal");
      if (principal.kind === "session") throw new AppError("forbidden", "A child has no page.");
      return c.json({ type: "created", ...(await app.signIn.newCode(principal)) }, 201);
    })
    .post("/sign-out", async (c) => {
      const { page } = c.get("holder");
      if (page) await app.tokens.endWeb(page.id);
      return c.json({ type: page ? "signed_out" : "not_signed_in" });
    });
}
