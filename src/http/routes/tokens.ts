import type { App } from "../../app.ts";
import { createToken, listTokens, revokeToken, signOutPages } from "../../contract/routes/tokens.ts";
import { ASKED_AT } from "../../contract/samples.ts";
import { operatorOnly, refusePages } from "../middleware/auth.ts";
import { type Served, serve } from "../serve.ts";

export type TokensApp = Pick<App, "tokens" | "signIn">;

const EXAMPLE = { id: "hZ3kq0Tn-xYz", name: "ci", created_at: ASKED_AT - 3600, last_used_at: ASKED_AT };

export function tokenRoutes({ tokens, signIn }: TokensApp): Served[] {
  const notByPages = refusePages("A page makes no tokens, which would outlive it: use `plexus token create NAME`.");
  return [
    serve(listTokens, {
      tag: "Tokens",
      summary: "Lists the named tokens",
      guards: [operatorOnly],
      answer: { says: "All of them, without their secrets.", example: { type: "ok", tokens: [EXAMPLE] } },
    }).by(async () => ({ type: "ok", tokens: await tokens.listNamed() })),
    serve(createToken, {
      tag: "Tokens",
      summary: "Makes a token that sees and decides only what it created",
      details: "Not for the token of a page, which it would outlive.",
      guards: [operatorOnly, notByPages],
      body: { name: "ci" },
      answers: {
        201: {
          says: "The only time that it is shown.",
          example: { type: "created", ...EXAMPLE, last_used_at: null, token: "plx_hZ3kq0Tn-xYz_…" },
        },
      },
      errors: ["name_taken"],
    }).by(async ({ body }) => ({ type: "created", ...(await tokens.createNamed(body.name, body.grant)) })),
    serve(signOutPages, {
      tag: "Tokens",
      summary: "Signs every page out at once",
      details: "Whoever signed them in; codes that are not used yet are worth nothing then.",
      guards: [operatorOnly],
      answer: { says: "How many pages there were.", example: { type: "signed_out", pages: 2 } },
    }).by(async () => ({ type: "signed_out", pages: await signIn.endAll() })),
    serve(revokeToken, {
      tag: "Tokens",
      summary: "Revokes a named token at once",
      params: { name: "The token's name" },
      guards: [operatorOnly],
      answer: { says: "It is no longer taken.", example: { type: "revoked", ...EXAMPLE } },
    }).by(async ({ params }) => ({ type: "revoked", ...(await tokens.revoke(params.name)) })),
  ];
}
