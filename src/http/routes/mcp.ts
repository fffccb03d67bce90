import { Hono } from "hono";
import { type Caller, callerOf, type Env, refusePages } from "../middleware/auth.ts";
import { readJson } from "../middleware/body.ts";
import type { Held } from "../middleware/request-limits.ts";
import { allowSilence } from "../streams/silence.ts";

/** Answers MCP requests; given from outside, since transports don't know each other. */
export type McpTransport = AsyncDisposable & {
  handle(
    request: Request,
    caller: Pick<Caller, "principal" | "anonymous"> & { held: Held },
    body: unknown,
  ): Promise<Response>;
};

/** The one path that children may call. */
export function mcpRoute(mcp: McpTransport): Hono<Env> {
  const notForPages = refusePages("The token of a page is not for /mcp: `plexus token create NAME` makes one.");
  return new Hono<Env>().all("/mcp", notForPages, async (c) => {
    const body = c.req.method === "POST" ? await readJson(c) : undefined;
    allowSilence(c);
    const { principal, anonymous } = callerOf(c.get("caller"));
    return mcp.handle(c.req.raw, { principal, anonymous, held: c.get("held") }, body);
  });
}
