import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Caller } from "./caller.ts";
import type { ClientApp } from "./clients/client-session.ts";
import { createClientSessions } from "./clients/client-sessions.ts";
import { createPermits, type PermitApp } from "./permit.ts";
import { permitCallIn, readPermitEventId } from "./permit-call.ts";
import { type CreateServer, createMcpServers, type ServerApp } from "./server.ts";
import { acceptable, COMMENT, firstEvent, primed, transportOptions } from "./streams.ts";

/** What MCP uses of the app. */
export type McpApp = PermitApp & ServerApp & ClientApp;
export type McpEndpoint = ReturnType<typeof createMcpEndpoint>;

/**
 * MCP over Streamable HTTP. A caller who decides gets a client session; a child, or a single request without a session, is
 * served without any state of ours; and a permit is answered by a stream of its own.
 */
export function createMcpEndpoint(app: McpApp, createServer: CreateServer = createMcpServers(app)) {
  const permits = createPermits(app);
  const clients = createClientSessions(app, createServer);

  async function handle(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const permit = request.method === "POST" ? permitCallIn(body, caller.principal.kind) : undefined;
    if (permit) return permits.answer(request, caller, permit);
    const resumed = readPermitEventId(request.headers.get("last-event-id"));
    if (request.method === "GET" && resumed) return permits.resume(request, caller, resumed);
    if (request.method === "POST" && isStateless(request, caller, body)) return serveOnce(request, caller, body);
    if (caller.principal.kind === "session")
      return rpcError(405, "A child's endpoint takes POST only.", { Allow: "POST" });
    return serveClient(request, caller, body);
  }

  /** One request on its own: a child has no state but its token, and plain HTTP callers need no handshake. */
  async function serveOnce(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await createServer(caller.principal).server.connect(transport);
    const gone = AbortSignal.any([request.signal, await app.tokens.revocation(caller)]);
    const response = await transport.handleRequest(acceptable(request), transportOptions(request, body, gone));
    const held = caller.held.stayOpenWithBody();
    return primed(response, COMMENT, () => held[Symbol.dispose]());
  }

  async function serveClient(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const isFirst = id === null && request.method === "POST";
    const client = isFirst ? await clients.open(caller.principal) : id && (await clients.find(caller.principal, id));
    if (!client) return rpcError(id === null ? 400 : 404, "There is no such MCP session: initialize first.");
    const { response, onEnd: onLeft, onTaken } = await client.handle(acceptable(request), body);
    const held = caller.held.stayOpenWithBody();
    const onEnd = () => {
      held[Symbol.dispose]();
      onLeft();
    };
    if (request.method !== "GET") return primed(response, COMMENT, onEnd);
    // Without an id on this stream, a client gives up a waiting permit when the server dies.
    return primed(response, firstEvent(request, "notifications", app.retryMs), onEnd, onTaken);
  }

  return {
    handle,
    async [Symbol.asyncDispose]() {
      permits.close();
      await clients.close();
    },
  };
}

function isStateless(request: Request, caller: Caller, body: unknown): boolean {
  if (caller.principal.kind === "session") return true;
  return request.headers.get("mcp-session-id") === null && !isInitializeRequest(body);
}

function rpcError(status: number, message: string, headers: Record<string, string> = {}): Response {
  const code = status === 404 ? -32001 : -32000;
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status, headers });
}
