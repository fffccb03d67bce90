import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { App, Principal } from "../app.ts";
import { errorFields } from "../log.ts";
import { cutObject } from "../schema/cut.ts";
import { createMcpServer, PENDING_URI } from "./server.ts";

const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;

/** One connected MCP client of somebody who decides. */
export type ClientSession = {
  id: string;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Marks the session as in use for as long as the returned is not disposed. */
  use(): Disposable;
};
type Entry = ClientSession & { owner: string; inUse: number; usedAt: number; close(): Promise<void> };

/** The MCP clients that are connected now; most never say goodbye, so those that stay silent are freed. */
export function createClientSessions(app: App) {
  const entries = new Map<string, Entry>();
  const sweeper = setInterval(sweep, SWEEP_MS);

  function sweep(): void {
    const before = Date.now() - IDLE_MS;
    for (const entry of entries.values()) {
      if (entry.inUse === 0 && entry.usedAt < before) void close(entry);
    }
  }

  async function open(principal: Principal): Promise<ClientSession> {
    const id = crypto.randomUUID();
    const { server, subscribed } = createMcpServer(app, principal);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => void entries.delete(id),
    });
    await server.connect(transport);
    const failed = (cause: unknown) => app.log.debug("a notification was not delivered", errorFields(cause));
    const listening = app.watching.onAsk(principal, (request) => {
      const data = { ...request, tool_input: cutObject(request.tool_input, 20_000) };
      const told = LoggingMessageNotificationSchema.shape.params.parse({ level: "notice", logger: "loopback", data });
      server.sendLoggingMessage(told, id).catch(failed);
      if (subscribed.has(PENDING_URI)) server.sendResourceUpdated({ uri: PENDING_URI }).catch(failed);
    });
    const entry: Entry = {
      id,
      transport,
      owner: keyOf(principal),
      inUse: 0,
      usedAt: Date.now(),
      use() {
        entry.inUse++;
        let done = false;
        return {
          [Symbol.dispose]() {
            if (done) return;
            done = true;
            entry.inUse--;
            entry.usedAt = Date.now();
          },
        };
      },
      async close() {
        listening[Symbol.dispose]();
        await server.close();
      },
    };
    server.onclose = () => {
      listening[Symbol.dispose]();
      entries.delete(id);
    };
    entries.set(id, entry);
    return entry;
  }

  async function close(entry: Entry): Promise<void> {
    entries.delete(entry.id);
    await entry.close();
  }

  return {
    open,
    /** Somebody else's session reads the same as none. */
    find(principal: Principal, id: string): ClientSession | undefined {
      const entry = entries.get(id);
      return entry?.owner === keyOf(principal) ? entry : undefined;
    },
    async close() {
      clearInterval(sweeper);
      await Promise.all([...entries.values()].map(close));
    },
  };
}

function keyOf(principal: Principal): string {
  return JSON.stringify(principal);
}
