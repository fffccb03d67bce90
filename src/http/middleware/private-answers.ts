import type { MiddlewareHandler } from "hono";
import type { Env } from "./auth.ts";

/** An answer is for its caller alone: unless it says otherwise it is not cached, and its type is never guessed. */
export const privateAnswers: MiddlewareHandler<Env> = async (c, next) => {
  await next();
  c.res.headers.set("X-Content-Type-Options", "nosniff");
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
};
