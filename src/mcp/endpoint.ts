import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Caller } from "./caller.ts";
import { Connection, transportOptions } from "./calls/connection.ts";
import { type BegunCall, readCallEventId } from "./calls/event-id.ts";
import { createOpenAnswers } from "./calls/open-answers.ts";
import { beginAnswer } from "./calls/resumable-answer.ts";
import { resumeCall } from "./calls/resumed-call.ts";
import type { ClientApp } from "./clients/client-session.ts";
import { createClientSessions } from "./clients/client-sessions.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import type { CreateModernServer } from "./modern/server.ts";
import { createPermits, type PermitApp } from "./permit.ts";
import { type PermitEventId, permitCallIn, readPermitEventId } from "./permit-call.ts";
import { refusedBatch, refusedChild, refusedHeaders, refusedRevision, rpcError } from "./refusals.ts";
import { PROTOCOL_VERSION, seemsModern } from "./revision.ts";
import { type CreateServer, createMcpServers } from "./server.ts";
import { createServices, type ServerApp } from "./service.ts";
import { acceptable, firstEvent, primed } from "./streams.ts";

/** The parts of the app that MCP uses. */
export type McpApp = PermitApp & ServerApp & ClientApp;
/** The unfinished call or permit that a client comes back for. */
type Begun = { permit?: PermitEventId | undefined; call?: BegunCall | undefined };
const NOTHING_BEGUN: Begun = {};
export type McpEndpoint = ReturnType<typeof createMcpEndpoint>;

/**
 * MCP over Streamable HTTP, in all its revisions. A caller who can decide gets a client session, or speaks a revision
 * without sessions. A child, or a single request without a session, is served without keeping state. Permits are
 * answered on streams of their own.
 */
export function createMcpEndpoint(
  app: McpApp,
  createServer: CreateServer = createMcpServers(app),
  createModernServer?: CreateModernServer,
) {
  const permits = createPermits(app);
  const clients = createClientSessions(app, createServer);
  const serviceOf = createServices(app);
  const answers = createOpenAnswers();
  let modern: Promise<ModernEndpoint> | undefined;

  /** Loaded on first use: this revision needs a second SDK, and most servers never meet such a client. */
  async function loadModern(): Promise<ModernEndpoint> {
    const { createModernEndpoint } = await import("./modern/endpoint.ts");
    return createModernEndpoint({ app, permits, answers }, createModernServer);
  }

  async function handle(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const begun = begunIn(request);
    // Permits and resumed calls are accepted even late, because their callers come back for the answer; a refusal would
    // lose what they wait for.
    if (caller.isLate && !permitCallIn(body, caller.principal.kind) && !begun.permit && !begun.call)
      return rpcError(503, "Plexus is stopping, or handing over: nothing was done. Try again in a moment.");
    if (request.method === "POST" && seemsModern(request, body)) {
      if (caller.principal.kind === "session") return refusedChild(body);
      modern ??= loadModern();
      const response = await (await modern).handle(request, caller, body);
      if (response) return response;
    }
    return handleLegacy(request, caller, body, begun);
  }

  /** Serves all revisions up to 2025-11-25, and every client that comes back for an answer. */
  async function handleLegacy(request: Request, caller: Caller, body: unknown, begun: Begun): Promise<Response> {
    const refused = Array.isArray(body) ? refusedBatch(request.headers.get(PROTOCOL_VERSION)) : undefined;
    if (refused) return refused;
    const permit = request.method === "POST" ? permitCallIn(body, caller.principal.kind) : undefined;
    if (permit || begun.permit || begun.call) {
      const unfit = refusedHeaders(request) ?? refusedRevision(request);
      if (unfit) return unfit;
    }
    if (permit) return permits.answer(request, caller, permit);
    if (begun.permit) return permits.resume(request, caller, begun.permit);
    if (request.method === "POST" && isStateless(request, caller, body)) return serveOnce(request, caller, body);
    if (caller.principal.kind === "session")
      return rpcError(405, "A child's endpoint takes POST only.", { headers: { Allow: "POST" } });
    if (!begun.call) return serveClient(request, caller, body);
    const service = serviceOf(caller.principal);
    const resumed = { caller, begun: begun.call, client: await knownClient(request, caller) };
    return resumeCall({ app, service, answers }, request, resumed);
  }

  /** Serves one request on its own: a child's only state is its token, and plain HTTP callers need no handshake. */
  async function serveOnce(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await createServer(caller.principal).server.connect(transport);
    const { onEventId, ...priming } = beginAnswer(request, body, app.retryMs);
    const revoked = await app.tokens.revocation(caller);
    const connection = new Connection({ gone: request.signal, revoked, stopping: caller.stopping }, onEventId);
    const onSent = answers.begin();
    const response = await transport.handleRequest(acceptable(request), transportOptions(body, connection));
    const held = caller.held.stayOpenWithBody();
    const onEnd = () => {
      held[Symbol.dispose]();
      onSent();
    };
    return primed(response, { ...priming, onEnd });
  }

  async function serveClient(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null && request.method !== "POST")
      return rpcError(405, "Only an MCP session has more than POST: initialize first.", { headers: { Allow: "POST" } });
    const client = id === null ? await clients.open(caller.principal) : await clients.find(caller.principal, id);
    if (!client) return rpcError(404, "There is no such MCP session: initialize first.");
    const refused = Array.isArray(body) ? refusedBatch(client.revision()) : undefined;
    if (refused) return refused;
    const { onEventId, ...priming } = beginAnswer(request, body, app.retryMs);
    const { stopping } = caller;
    const {
      response,
      onEnd: onLeft,
      onTaken,
    } = await client.handle(acceptable(request), body, { stopping, onEventId });
    const held = caller.held.stayOpenWithBody();
    const onSent = request.method === "POST" ? answers.begin() : undefined;
    const onEnd = () => {
      held[Symbol.dispose]();
      onSent?.();
      onLeft();
    };
    if (request.method !== "GET") return primed(response, { ...priming, onEnd });
    // Without an id on this stream, Claude Code gives up a waiting permit when the server dies.
    return primed(response, { first: firstEvent(request, "notifications", app.retryMs), onEnd, onTaken });
  }

  /** The client session that a request names, if it belongs to the caller. */
  async function knownClient(request: Request, { principal }: Caller): Promise<string | undefined> {
    const id = request.headers.get("mcp-session-id");
    return id !== null && (await clients.find(principal, id)) ? id : undefined;
  }

  return {
    handle,
    /** Lets every call answer before its connection closes. */
    async [Symbol.asyncDispose]() {
      await answers.sent();
      permits.close();
      await (await modern)?.close();
      await clients.close();
    },
  };
}

function begunIn(request: Request): Begun {
  const lastEventId = request.method === "GET" ? request.headers.get("last-event-id") : null;
  if (lastEventId === null) return NOTHING_BEGUN;
  return { permit: readPermitEventId(lastEventId), call: readCallEventId(lastEventId) };
}

function isStateless(request: Request, caller: Caller, body: unknown): boolean {
  if (caller.principal.kind === "session") return true;
  return request.headers.get("mcp-session-id") === null && !isInitializeRequest(body);
}
