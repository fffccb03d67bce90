import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { isInitializeRequest, isJSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import type { App } from "../app.ts";
import type { Caller } from "./caller.ts";
import { type ClientSession, createClientSessions } from "./client-sessions.ts";
import { createPermits, permitCall } from "./permit.ts";
import { createMcpServer } from "./server.ts";
import { CHILD_PERMIT, canonicalName, PERMIT } from "./tools.ts";

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>;

/**
 * MCP over Streamable HTTP. Whoever decides gets a client session; a child, or a single request without a session, is
 * served without any state of ours; and a permit is answered by a stream of its own.
 */
export function createMcpEndpoint(app: App) {
  const permits = createPermits(app);
  const clients = createClientSessions(app);

  async function handle(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const isChild = caller.principal.kind === "session";
    if (request.method === "POST" && isJSONRPCRequest(body) && body.method === "tools/call" && body.params) {
      const name = body.params["name"];
      const mayAsk = caller.principal.kind !== "token";
      if (typeof name === "string" && canonicalName(name) === PERMIT && mayAsk) {
        return permits.answer(request, caller, permitCall(body.id, body.params));
      }
    }
    const id = request.headers.get("mcp-session-id");
    if (isChild || (request.method === "POST" && id === null && !isInitializeRequest(body))) {
      return request.method === "POST" ? once(request, caller, body) : notAllowed();
    }
    const client = id === null ? await opened(request, caller, body) : clients.find(caller.principal, id);
    if (!client) return rpcError(id === null ? 400 : 404, "Session not found: initialize first.");
    return passOn(client, request, body);
  }

  async function opened(request: Request, caller: Caller, body: unknown): Promise<ClientSession | undefined> {
    return request.method === "POST" && isInitializeRequest(body) ? clients.open(caller.principal) : undefined;
  }

  /** Serves one request on its own: a child has no state but its token, and plain HTTP callers need no handshake. */
  async function once(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await createMcpServer(app, caller.principal).server.connect(transport);
    return primed(
      await transport.handleRequest(acceptable(request), transportOptions(request, body)),
      FIRST_COMMENT,
      () => {},
    );
  }

  async function passOn(client: ClientSession, request: Request, body: unknown): Promise<Response> {
    const use = client.use();
    const done = () => use[Symbol.dispose]();
    try {
      const response = await client.transport.handleRequest(acceptable(request), transportOptions(request, body));
      return primed(response, request.method === "GET" ? firstOfGet(request, app.retryMs) : FIRST_COMMENT, done);
    } catch (cause) {
      done();
      throw cause;
    }
  }

  return {
    handle,
    async [Symbol.asyncDispose]() {
      permits.close();
      await clients.close();
    },
  };
}

const FIRST_COMMENT = ": plexus\n\n";
const encoder = new TextEncoder();

/** A client whose stream is not primed with an id gives up a waiting permit when the server dies. */
function firstOfGet(request: Request, retryMs: number): string {
  const version = request.headers.get("mcp-protocol-version") ?? "";
  return version >= "2025-11-25" ? `id: notifications\nretry: ${retryMs}\ndata: \n\n` : FIRST_COMMENT;
}

/** Bun holds the headers back until the first chunk, so there must be one at once. */
function primed(response: Response, first: string, onEnd: () => void): Response {
  if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      onEnd();
      controller.close();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** The SDK's handlers learn through this that the caller has gone. */
function transportOptions(request: Request, body: unknown) {
  const authInfo = { token: "", clientId: "", scopes: [], extra: { signal: request.signal } };
  return { authInfo, ...(request.method === "POST" && { parsedBody: body }) };
}

/** A plain HTTP client that takes anything takes what we send. */
function acceptable(request: Request): Request {
  const accept = request.headers.get("accept");
  if (accept !== null && accept.trim() !== "*/*") return request;
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

function notAllowed(): Response {
  const response = rpcError(405, `This endpoint takes POST, for ${CHILD_PERMIT.name}.`);
  response.headers.set("Allow", "POST");
  return response;
}

function rpcError(status: number, message: string): Response {
  return Response.json(
    { jsonrpc: "2.0", error: { code: status === 404 ? -32001 : -32000, message }, id: null },
    { status },
  );
}
