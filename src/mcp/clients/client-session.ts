import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { App, Principal } from "../../app.ts";
import { tokenRevoked } from "../../contract/refusals/errors.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { errorFields } from "../../log.ts";
import { Connection, transportOptions } from "../calls/connection.ts";
import { createOpenAnswers } from "../calls/open-answers.ts";
import type { CreateServer, McpServer } from "../server.ts";
import { PENDING_URI } from "../service.ts";
import { drained, jsonRequest } from "../streams.ts";
import { agreedRevision, setupMessage } from "./client-setup.ts";
import { setupAfter } from "./setup-messages.ts";

/**
 * A client with more unread notifications has stopped reading: the server ends its stream, and the client may open
 * another.
 */
export const MAX_UNREAD = 100;

/** One connected MCP client of a principal who can decide. */
export type ClientSession = {
  belongsTo(principal: Principal): boolean;
  isIdleSince(time: number): boolean;
  /** The revision that the handshake agreed on. */
  revision(): string | undefined;
  /**
   * Handles a request. Call `onTaken` when the client has read from its stream, and `onEnd` when the response is over.
   */
  handle(
    request: Request,
    body: unknown,
    connection: { stopping: AbortSignal; onEventId?: ((id: string) => void) | undefined },
  ): Promise<{ response: Response; onEnd: () => void; onTaken: () => void }>;
  close(): Promise<void>;
};

/** The parts of the app that client sessions use. */
export type ClientApp = Pick<App, "log" | "mcpClients" | "retryMs" | "tokens" | "eventFeed">;
type Opening = { app: ClientApp; createServer: CreateServer; principal: Principal; id: string; onClose: () => void };

/** Opens a session under this id and replays the client's earlier setup. */
export async function openClientSession(opening: Opening, setup: JsonObject[]): Promise<ClientSession> {
  const { app, principal, id } = opening;
  const mcp = opening.createServer(principal);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessionclosed: () => app.mcpClients.forget(id),
  });
  const answers = createOpenAnswers();
  const close = () => mcp.server.close();
  const revoked = await app.tokens.revocation({ principal });
  /** Ends notifications, and lets waiting calls answer first, so that no client waits for them in vain. */
  const end = () => {
    listening?.[Symbol.dispose]();
    transport.closeStandaloneSSEStream();
    void answers.sent().then(close);
  };
  let unread = 0;
  /**
   * Listen only while the client's stream is open: most clients never open one, and each listener costs time at every
   * request.
   */
  let listening: Disposable | undefined;
  const listen = () => {
    listening?.[Symbol.dispose]();
    unread = 0;
    const own = notify(app, principal, id, mcp, () => {
      if (++unread > MAX_UNREAD) transport.closeStandaloneSSEStream();
    });
    listening = own;
    return () => own[Symbol.dispose]();
  };
  const onTaken = () => {
    unread = 0;
  };
  revoked.addEventListener("abort", end);
  mcp.server.onclose = () => {
    revoked.removeEventListener("abort", end);
    listening?.[Symbol.dispose]();
    opening.onClose();
  };
  await mcp.server.connect(transport);
  // The token was revoked while the session opened, so no later event would end it.
  if (revoked.aborted) {
    await close();
    throw tokenRevoked();
  }
  for (const message of setup) {
    await drained(await transport.handleRequest(jsonRequest(id, message), { parsedBody: message }));
  }
  let inUse = 0;
  let usedAt = Date.now();

  function use(isAnswer: boolean): () => void {
    let isOver = false;
    const onSent = isAnswer ? answers.begin() : undefined;
    inUse++;
    return () => {
      if (isOver) return;
      isOver = true;
      onSent?.();
      inUse--;
      usedAt = Date.now();
    };
  }

  return {
    belongsTo: (other) => JSON.stringify(other) === JSON.stringify(principal),
    isIdleSince: (time) => inUse === 0 && usedAt < time,
    revision: () => agreedRevision(setup),
    close,
    async handle(request, body, { stopping, onEventId }) {
      const onEnd = use(request.method === "POST");
      try {
        const change = setupMessage(body);
        const connection = new Connection({ gone: request.signal, revoked, stopping }, onEventId);
        const response = await transport.handleRequest(request, transportOptions(served(body, change), connection));
        if (response.ok && change) {
          setup = setupAfter(setup, change);
          await app.mcpClients.remember(principal, id, setup);
        }
        const onEnded = request.method === "GET" && response.ok ? listen() : () => {};
        const end = () => {
          onEnded();
          onEnd();
        };
        return { response, onEnd: end, onTaken };
      } catch (cause) {
        onEnd();
        throw cause;
      }
    },
  };
}

/**
 * Hands the SDK our shortened `initialize`: it keeps the client's introduction in memory while the client is connected.
 */
function served(body: unknown, change: JsonObject | undefined): unknown {
  if (change?.["method"] !== "initialize" || !isJsonObject(body)) return body;
  return { ...change, jsonrpc: body["jsonrpc"], id: body["id"] };
}

/**
 * Notifies the client of each new request, and of each call that ran without a required approval. A client that is not
 * listening can read all of it later.
 */
function notify(
  app: ClientApp,
  principal: Principal,
  id: string,
  { server, subscribed }: McpServer,
  onTold: () => void,
): Disposable {
  const lost = (cause: unknown) => app.log.debug("a notification was not delivered", errorFields(cause));
  const say = (level: "notice" | "error", data: object) => {
    onTold();
    server.sendLoggingMessage({ level, logger: "loopback", data }, id).catch(lost);
  };
  const listening = new DisposableStack();
  listening.use(
    app.eventFeed.onRequest(principal, (request) => {
      say("notice", request);
      if (subscribed.has(PENDING_URI)) server.sendResourceUpdated({ uri: PENDING_URI }).catch(lost);
    }),
  );
  listening.use(app.eventFeed.onUnasked(principal, (call) => say("error", { type: "unasked_call", ...call })));
  return listening;
}
