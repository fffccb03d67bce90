import type { Context } from "hono";
import type { Env } from "../middleware/auth.ts";

/** Turns off the server's idle limit for this request, whose answer may take longer. */
export function allowSilence(c: Context<Env>): void {
  c.env.server?.timeout(c.req.raw, 0);
}
