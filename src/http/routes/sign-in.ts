import type { App } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { createCode, signIn, signOut, whoAmI } from "../../contract/routes/sign-in.ts";
import { ASKED_AT } from "../../contract/samples.ts";
import { VERSION } from "../../version.ts";
import { createWrongTokenLimit, refusePages } from "../middleware/auth.ts";
import { type Served, type ServedOpenly, serve, serveOpenly } from "../serve.ts";

type SignInApp = Pick<App, "signIn">;
export type CallerApp = Pick<App, "config" | "signIn" | "tokens" | "nameOf">;

/** Exchanges a sign-in code for a token, without needing a token. */
export function signInRoutes(app: SignInApp): ServedOpenly[] {
  const wrong = createWrongTokenLimit();
  return [
    serveOpenly(signIn, {
      tag: "Page",
      summary: "Swaps a code for a token",
      token: "none",
      body: { code: "k3J9vQ2mXw" },
      answer: {
        says: "The page's token.",
        example: { type: "signed_in", token: "plx_web_…", expires_at: 1789592000 },
      },
      errors: ["unauthorized"],
    }).by(async ({ body }) => {
      const signedIn = await app.signIn.redeem(body.code);
      if (signedIn) return { type: "signed_in", ...signedIn };
      wrong.count();
      throw new AppError("unauthorized", "This code was used before, or is too old: `plexus open` makes a new one.");
    }),
  ];
}

/** Shows the caller, creates a sign-in code for one of the caller's pages, and signs a page out. */
export function callerRoutes(app: CallerApp): Served[] {
  const notByPages = refusePages("A page signs no other page in, which would outlive it: use `plexus open`.");
  return [
    serve(whoAmI, {
      tag: "Page",
      summary: "Who is calling, and what answers",
      answer: { says: "The caller's name.", example: { type: "ok", name: "operator", version: "0.1.0" } },
    }).by(async ({ principal }) => ({ type: "ok", name: await app.nameOf(principal), version: VERSION })),
    serve(createCode, {
      tag: "Page",
      summary: "Makes a code that signs one page in, once",
      details: "Not for the token of a page, which the other page would outlive.",
      guards: [notByPages],
      answers: {
        201: {
          says: "The code.",
          example: {
            type: "created",
            code: "k3J9vQ2mXw",
            expires_at: ASKED_AT + 600,
            public_url: null,
          },
        },
      },
    }).by(async ({ principal }) => {
      if (principal.kind === "session") throw new AppError("forbidden", "A child has no page.");
      const made = await app.signIn.newCode(principal);
      return { type: "created", ...made, public_url: app.config.publicUrl ?? null };
    }),
    serve(signOut, {
      tag: "Page",
      summary: "Ends the page's token that it is called with",
      answer: { says: "Whether there was one.", example: { type: "signed_out" } },
    }).by(async ({ caller }) => {
      const { page } = caller.holder;
      if (page) await app.tokens.endWeb(page.id);
      return { type: page ? "signed_out" : "not_signed_in" };
    }),
  ];
}
