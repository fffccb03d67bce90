import { z } from "zod";
import { Match } from "../rules/rule.ts";
import { Id, Name, UnixSeconds } from "../values.ts";
import { route } from "./declaration/route.ts";

/** The patterns of what a token may allow by itself. */
export const Grant = z.array(Match).max(500);
export const NewToken = z.strictObject({ name: Name, grant: Grant.optional() });
/** Which tokens end together; only those of pages can. */
const EndedTokens = z.strictObject({ kind: z.literal("web") });

export const NamedToken = z.strictObject({
  id: Id,
  name: z.string(),
  created_at: UnixSeconds,
  /** When it was last called with, or one of its pages was, to the minute; null before. */
  last_used_at: UnixSeconds.nullable(),
  /** What it may allow by itself; absent where it may allow all that its children ask. */
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
