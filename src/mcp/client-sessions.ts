import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { App, Principal } from "../app.ts";
import { errorFields } from "../log.ts";
import { cutObject } from "../schema/cut.ts";
import { isJsonObject, type JsonObject } from "../schema/values.ts";
import { type CreateServer, PENDING_URI } from "./server.ts";
import { drained, jsonRequest } from "./streams.ts";

const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Above this many, the ones that were silent for longest make room. */
const MAX_IN_MEMORY = 1_000;
const MAX_NOTIFIED_INPUT_CHARS = 20_000;

/** What changes how a client is served from then on, and so must be replayed where the client is not known any more. */
const SETUP_METHODS = ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/** One connected MCP client of somebody who decides. */
export type ClientSession = {
  /** Passes a request on; `onEnd` tells when its answer, which may be a stream, is over. */
  handle(request: Request, body: unknown): Promise<{ response: Response; onEnd: () => void }>;
};

type Entry = ClientSession & { id: string; owner: string; isIdleSince(time: number): boolean; close(): Promise<void> };

/** The MCP clients that are connected now. Most never say goodbye, so the silent ones are freed, and restored if they speak. */
export function createClientSessions(app: App, createServer: CreateServer) {
  const entries = new Map<string, Entry>();
  const restoring = new Map<string, Promise<Entry>>();
  const sweeper = setInterval(() => {
    const before = Date.now() - IDLE_MS;
    for (const entry of entries.values()) if (entry.isIdleSince(before)) void entry.close();
  }, SWEEP_MS);

  async function create(principal: Principal, id: string, setup: JsonObject[]): Promise<Entry> {
    const { server, subscribed } = createServer(app, principal);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => app.mcpClients.forget(id),
    });
    await server.connect(transport);
    const lost = (cause: unknown) => app.log.debug("a notification was not delivered", errorFields(cause));
    const listening = app.watching.onAsk(principal, (request) => {
      const data = { ...request, tool_input: cutObject(request.tool_input, MAX_NOTIFIED_INPUT_CHARS) };
      server.sendLoggingMessage({ level: "notice", logger: "loopback", data }, id).catch(lost);
      if (subscribed.has(PENDING_URI)) server.sendResourceUpdated({ uri: PENDING_URI }).catch(lost);
    });
    let inUse = 0;
    let usedAt = Date.now();
    const revoked = app.tokens.revocation(principal);
    const close = async () => {
      revoked.removeEventListener("abort", close);
      listening[Symbol.dispose]();
      entries.delete(id);
      await server.close();
    };
    revoked.addEventListener("abort", close);
    server.onclose = () => void close();

    async function replay(message: JsonObject): Promise<void> {
      const request = jsonRequest(id, message);
      await drained(await transport.handleRequest(request, { parsedBody: message }));
    }
    for (const message of setup) await replay(message);

    const entry: Entry = {
      id,
      owner: keyOf(principal),
      isIdleSince: (time) => inUse === 0 && usedAt < time,
      close,
      async handle(request, body) {
        inUse++;
        const onEnd = once(() => {
          inUse--;
          usedAt = Date.now();
        });
        try {
          const authInfo = { token: "", clientId: "", scopes: [], extra: { signal: request.signal } };
          const response = await transport.handleRequest(request, {
            authInfo,
            ...(body !== undefined && { parsedBody: body }),
          });
          if (response.ok && isSetup(body)) await app.mcpClients.remember(principal, id, (setup = kept(setup, body)));
          return { response, onEnd };
        } catch (cause) {
          onEnd();
          throw cause;
        }
      },
    };
    if (entries.size >= MAX_IN_MEMORY)
      void [...entries.values()].find((other) => other.isIdleSince(Date.now()))?.close();
    entries.set(id, entry);
    return entry;
  }

  async function restore(principal: Principal, id: string): Promise<Entry | undefined> {
    const setup = app.mcpClients.recall(principal, id);
    if (!setup) return undefined;
    // Two requests of one client may come at once; both must find the same session.
    const restored = restoring.get(id) ?? create(principal, id, setup).finally(() => restoring.delete(id));
    restoring.set(id, restored);
    return restored;
  }

  return {
    open: (principal: Principal): Promise<ClientSession> => create(principal, crypto.randomUUID(), []),
    /** Somebody else's session reads the same as none. */
    async find(principal: Principal, id: string): Promise<ClientSession | undefined> {
      const entry = entries.get(id);
      if (entry) return entry.owner === keyOf(principal) ? entry : undefined;
      return restore(principal, id);
    },
    /** How many are in memory. */
    count: () => entries.size,
    async close() {
      clearInterval(sweeper);
      await Promise.all([...entries.values()].map((entry) => entry.close()));
    },
  };
}

function isSetup(body: unknown): body is JsonObject {
  return isJsonObject(body) && SETUP_METHODS.some((method) => method === body["method"]);
}

/** The shortest list of messages with the same effect: the newest of each method. */
function kept(setup: JsonObject[], message: JsonObject): JsonObject[] {
  const method = message["method"];
  const undone = method === "resources/unsubscribe" ? "resources/subscribe" : method;
  const others = setup.filter((earlier) => earlier["method"] !== undone);
  return method === "resources/unsubscribe" ? others : [...others, message];
}

function keyOf(principal: Principal): string {
  return JSON.stringify(principal);
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
