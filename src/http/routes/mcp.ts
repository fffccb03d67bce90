import { Hono } from "hono";
import { AppError } from "../../contract/refusals/errors.ts";
import { type Caller, callerOf, type Env, refusePages } from "../middleware/auth.ts";
import { readJson } from "../middleware/body.ts";
import type { Held } from "../middleware/request-limits.ts";
import { allowSilence } from "../streams/silence.ts";

/** Answers MCP requests. Passed in, because transports must not import each other. */
export type McpTransport = AsyncDisposable & {
  handle(
    request: Request,
    caller: Pick<Caller, "principal" | "anonymous"> & { held: Held; stopping: AbortSignal; isLate: boolean },
    body: unknown,
  ): Promise<Response>;
};

/** The only path that children may call. */
export const MCP_PATH = "/mcp";

export function mcpRoute(mcp: McpTransport, stopping: AbortSignal): Hono<Env> {
  const notForPages = refusePages("The token of a page is not for /mcp: `plexus token create NAME` makes one.");
  return new Hono<Env>().all(MCP_PATH, notForPages, async (c) => {
    const body = c.req.method === "POST" ? await readJson(c).catch(parseError) : undefined;
    if (body instanceof Response) return body;
    allowSilence(c);
    const { principal, anonymous } = callerOf(c.get("caller"));
    const { isLate = false } = c.env;
    return mcp.handle(c.req.raw, { principal, anonymous, held: c.get("held"), stopping, isLate }, body);
  });
}

/** Refuses invalid JSON with a JSON-RPC error, the only form that MCP clients understand. */
function parseError(cause: unknown): Response {
  if (!(cause instanceof AppError) || cause.code !== "invalid_json") throw cause;
  return Response.json({ jsonrpc: "2.0", error: { code: -32700, message: cause.message }, id: null }, { status: 400 });
}
