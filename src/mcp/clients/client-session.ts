import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { App, Principal } from "../../app.ts";
import { AppError } from "../../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { errorFields } from "../../log.ts";
import { type CreateServer, type McpServer, PENDING_URI } from "../server.ts";
import { drained, jsonRequest, transportOptions } from "../streams.ts";
import { setupMessage } from "./client-setup.ts";
import { setupAfter } from "./setup-messages.ts";

/** A client with more unread notifications than this has stopped reading: its stream ends, and it may open another. */
const MAX_UNREAD = 100;

/** One connected MCP client of somebody who decides. */
export type ClientSession = {
  belongsTo(principal: Principal): boolean;
  isIdleSince(time: number): boolean;
  /** Passes a request on; call `onTaken` when the client has read from its stream, `onEnd` when the response is over. */
  handle(request: Request, body: unknown): Promise<{ response: Response; onEnd: () => void; onTaken: () => void }>;
  close(): Promise<void>;
};

/** What client sessions use of the app. */
export type ClientApp = Pick<App, "log" | "mcpClients" | "retryMs" | "tokens" | "eventFeed">;
type Opening = { app: ClientApp; createServer: CreateServer; principal: Principal; id: string; onClose: () => void };

/** Serves a client under this id, with what it had set up before replayed. */
export async function openClientSession(opening: Opening, setup: JsonObject[]): Promise<ClientSession> {
  const { app, principal, id } = opening;
  const mcp = opening.createServer(principal);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessionclosed: () => app.mcpClients.forget(id),
  });
  const close = () => mcp.server.close();
  const revoked = await app.tokens.revocation({ principal });
  revoked.addEventListener("abort", close);
  let unread = 0;
  const listening = await notify(app, principal, id, mcp, () => {
    if (++unread > MAX_UNREAD) transport.closeStandaloneSSEStream();
  });
  const onTaken = () => {
    unread = 0;
  };
  mcp.server.onclose = () => {
    revoked.removeEventListener("abort", close);
    listening[Symbol.dispose]();
    opening.onClose();
  };
  await mcp.server.connect(transport);
  // Revoked while this was opened: nothing would end it any more.
  if (revoked.aborted) {
    await close();
    throw new AppError("unauthorized", "This token was revoked.");
  }
  for (const message of setup) {
    await drained(await transport.handleRequest(jsonRequest(id, message), { parsedBody: message }));
  }
  let inUse = 0;
  let usedAt = Date.now();

  function use(): () => void {
    let isOver = false;
    inUse++;
    return () => {
      if (isOver) return;
      isOver = true;
      inUse--;
      usedAt = Date.now();
    };
  }

  return {
    belongsTo: (other) => JSON.stringify(other) === JSON.stringify(principal),
    isIdleSince: (time) => inUse === 0 && usedAt < time,
    close,
    async handle(request, body) {
      const onEnd = use();
      try {
        const change = setupMessage(body);
        const response = await transport.handleRequest(request, transportOptions(request, served(body, change)));
        if (response.ok && change) {
          setup = setupAfter(setup, change);
          await app.mcpClients.remember(principal, id, setup);
        }
        return { response, onEnd, onTaken };
      } catch (cause) {
        onEnd();
        throw cause;
      }
    },
  };
}

/** The SDK keeps what a client says of itself for as long as the client is connected: it gets what we keep. */
function served(body: unknown, change: JsonObject | undefined): unknown {
  if (change?.["method"] !== "initialize" || !isJsonObject(body)) return body;
  return { ...change, jsonrpc: body["jsonrpc"], id: body["id"] };
}

/**
 * Tells the client of each new ask as it happens, and of each call that ran unasked where none may; a client that does
 * not listen right now misses nothing it can't read.
 */
async function notify(
  app: ClientApp,
  principal: Principal,
  id: string,
  { server, subscribed }: McpServer,
  onTold: () => void,
): Promise<Disposable> {
  const lost = (cause: unknown) => app.log.debug("a notification was not delivered", errorFields(cause));
  const say = (level: "notice" | "error", data: object) => {
    onTold();
    server.sendLoggingMessage({ level, logger: "loopback", data }, id).catch(lost);
  };
  const listening = new DisposableStack();
  listening.use(
    await app.eventFeed.onRequest(principal, (request) => {
      say("notice", request);
      if (subscribed.has(PENDING_URI)) server.sendResourceUpdated({ uri: PENDING_URI }).catch(lost);
    }),
  );
  listening.use(await app.eventFeed.onUnasked(principal, (call) => say("error", { type: "unasked_call", ...call })));
  return listening;
}
