import type { Context } from "hono";
import type { Env } from "../middleware/auth.ts";

/** Lifts the server's idle limit from this request, whose answer may take longer than a connection may be silent. */
export function allowSilence(c: Context<Env>): void {
  c.env.server?.timeout(c.req.raw, 0);
}
