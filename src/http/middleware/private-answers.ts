import type { MiddlewareHandler } from "hono";
import type { Env } from "./auth.ts";

/**
 * Answers are private to their caller: they aren't cached unless they say so, and browsers may not guess their type.
 */
export const privateAnswers: MiddlewareHandler<Env> = async (c, next) => {
  await next();
  c.res.headers.set("X-Content-Type-Options", "nosniff");
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
};
