import { z } from "zod";
import { Match } from "../rules/rule.ts";
import { Id, Name, UnixSeconds } from "../values.ts";
import { route } from "./declaration/route.ts";

/** The patterns of calls that a token may allow. */
export const Grant = z.array(Match).max(500);
export const NewToken = z.strictObject({ name: Name, grant: Grant.optional() });
/** The kind of tokens to delete together; only web tokens can be. */
const EndedTokens = z.strictObject({ kind: z.literal("web") });

export const NamedToken = z.strictObject({
  id: Id,
  name: z.string(),
  created_at: UnixSeconds,
  /** When a request, or one of the token's web pages, last used it, accurate to the minute; null if never. */
  last_used_at: UnixSeconds.nullable(),
  /** The calls that it may allow; absent if it may allow everything that its children request. */
  grant: Grant.optional(),
});
export const TokenList = z.object({ type: z.literal("ok"), tokens: z.array(NamedToken) });
export const TokenCreated = z.object({ ...NamedToken.shape, type: z.literal("created"), token: z.string() });
export const TokenRevoked = z.object({ ...NamedToken.shape, type: z.literal("revoked") });
export const PagesSignedOut = z.object({ type: z.literal("signed_out"), pages: z.int() });

export const listTokens = route("GET", "/api/v1/tokens", { answer: TokenList });
export const createToken = route("POST", "/api/v1/tokens", { body: NewToken, answers: { 201: TokenCreated } });
export const signOutPages = route("DELETE", "/api/v1/tokens", { query: EndedTokens, answer: PagesSignedOut });
export const revokeToken = route("DELETE", "/api/v1/tokens/:name", { answer: TokenRevoked });
