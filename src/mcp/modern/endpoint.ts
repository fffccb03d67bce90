import { createMcpHandler, isLegacyRequest, type McpHttpHandler, Server } from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import { isJsonObject } from "../../contract/values.ts";
import type { Caller } from "../caller.ts";
import { Connection } from "../calls/connection.ts";
import { MAX_ID_CHARS, Token } from "../calls/event-id.ts";
import type { OpenAnswers } from "../calls/open-answers.ts";
import { beginAnswer } from "../calls/resumable-answer.ts";
import type { Permits } from "../permit.ts";
import { permitCallIn } from "../permit-call.ts";
import { refusedHeaders, rpcError } from "../refusals.ts";
import { INFO, type ServerApp } from "../service.ts";
import { primed } from "../streams.ts";
import { promptOrStreamed } from "./late-answer.ts";
import { type ListenApp, listenFor } from "./listen.ts";
import { type CreateModernServer, createModernServers } from "./server.ts";

const INVALID_REQUEST = -32600;
const MAX_LOGGED_CHARS = 300;

/** The parts of the app that this endpoint uses. */
export type ModernApp = ServerApp & ListenApp & Pick<App, "retryMs" | "tokens">;
type ModernNeed = { app: ModernApp; permits: Permits; answers: OpenAnswers };
export type ModernEndpoint = ReturnType<typeof createModernEndpoint>;

/**
 * MCP 2026-07-28 for callers who can decide: no handshake, no session, and each request stands alone. Each request gets
 * a handler of the SDK for itself, because a handler publishes to everyone who listens on it.
 */
export function createModernEndpoint(
  { app, permits, answers }: ModernNeed,
  createServer: CreateModernServer = createModernServers(app),
) {
  const open = new Set<McpHttpHandler>();

  /** Returns `undefined` if the request turns out to be of an earlier revision. */
  async function handle(request: Request, caller: Caller, body: unknown): Promise<Response | undefined> {
    if (await isLegacyRequest(request, body)) return undefined;
    const refused = refusedHeaders(request) ?? refusedId(body);
    if (refused) return refused;
    const permit = permitCallIn(body, caller.principal.kind);
    if (permit) return (await refusedPermit(request, body)) ?? permits.answer(request, caller, permit);
    return serve(request, caller, body);
  }

  async function serve(request: Request, caller: Caller, body: unknown): Promise<Response> {
    const left = new AbortController();
    const leave = () => left.abort();
    const revoked = await app.tokens.revocation(caller);
    const gone = AbortSignal.any([request.signal, left.signal]);
    const { onEventId, ...priming } = beginAnswer(request, body, app.retryMs);
    const connection = new Connection({ gone, revoked, stopping: caller.stopping }, onEventId);
    const handler = createMcpHandler(() => createServer(caller.principal, connection), { legacy: "reject", onerror });
    open.add(handler);
    const listening = await listenFor(app, caller.principal, handler, body, leave);
    const held = caller.held.stayOpenWithBody();
    const onSent = listening.isSubscription ? undefined : answers.begin();
    const onEnd = () => {
      onSent?.();
      open.delete(handler);
      listening[Symbol.dispose]();
      held[Symbol.dispose]();
    };
    const signal = listening.isSubscription ? AbortSignal.any([gone, revoked]) : gone;
    const answer = handler.fetch(bodiless(request, signal), { parsedBody: listening.body });
    return primed(await promptOrStreamed(answer, leave), { ...priming, onEnd, onTaken: listening.onTaken });
  }

  /** Permits are answered without the SDK, but must meet everything that the SDK requires of a request. */
  async function refusedPermit(request: Request, body: unknown): Promise<Response | undefined> {
    let isFit = false;
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/call", () => {
      isFit = true;
      return { content: [] };
    });
    const handler = createMcpHandler(() => server, { legacy: "reject", onerror });
    const response = await handler.fetch(bodiless(request, request.signal), { parsedBody: body });
    return isFit ? undefined : response;
  }

  /** Receives refusals too, so the log gets nothing that the caller does not know. */
  function onerror({ message }: Error): void {
    app.log.debug("an MCP request was refused", { error: cutText(message, MAX_LOGGED_CHARS) });
  }

  return {
    handle,
    /** Ends subscriptions and waiting calls. */
    async close() {
      await Promise.all([...open].map((handler) => handler.close()));
    },
  };
}

/** The id goes out with each message of an answer, so it must be short. */
function refusedId(body: unknown): Response | undefined {
  const id = isJsonObject(body) ? body["id"] : undefined;
  if (id === undefined || Token.safeParse(id).success) return undefined;
  const message = `The id of a request is a number, or a text of at most ${MAX_ID_CHARS} characters.`;
  return rpcError(400, message, { code: INVALID_REQUEST });
}

/** A request without body: the SDK gets the parsed body, which was already counted. */
function bodiless({ url, headers }: Request, signal: AbortSignal): Request {
  return new Request(url, { method: "POST", headers, signal });
}
