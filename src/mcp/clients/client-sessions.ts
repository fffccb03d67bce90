import type { Principal } from "../../app.ts";
import type { JsonObject } from "../../contract/values.ts";
import { errorFields } from "../../log.ts";
import type { CreateServer } from "../server.ts";
import { type ClientApp, type ClientSession, openClientSession } from "./client-session.ts";
import { setupMessage } from "./client-setup.ts";

const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** At this number, an idle session is closed for each new one. */
const MAX_IN_MEMORY = 1_000;

/**
 * The connected MCP clients. Most of them never close their session, so silent ones are freed, and restored when they
 * return.
 */
export function createClientSessions(app: ClientApp, createServer: CreateServer) {
  const sessions = new Map<string, ClientSession>();
  const restoring = new Map<string, Promise<ClientSession | undefined>>();
  const sweeper = setInterval(() => {
    for (const session of idleSince(Date.now() - IDLE_MS)) void session.close();
  }, SWEEP_MS);

  const idleSince = (time: number) => [...sessions.values()].filter((session) => session.isIdleSince(time));

  async function create(principal: Principal, id: string, setup: JsonObject[]): Promise<ClientSession> {
    if (sessions.size >= MAX_IN_MEMORY) await idleSince(Date.now())[0]?.close();
    const onClose = () => void sessions.delete(id);
    const session = await openClientSession({ app, createServer, principal, id, onClose }, setup);
    sessions.set(id, session);
    return session;
  }

  async function reopen(principal: Principal, id: string): Promise<ClientSession | undefined> {
    const recalled = await app.mcpClients.recall(principal, id);
    if (!recalled) return undefined;
    // Earlier versions of Plexus stored whole messages.
    const setup = recalled.map(setupMessage).filter((message) => message !== undefined);
    const unnoted = (cause: unknown) => app.log.debug("the use of an MCP session was not noted", errorFields(cause));
    app.mcpClients.remember(principal, id, setup).catch(unnoted);
    return create(principal, id, setup);
  }

  /** Concurrent requests of one client must find the same session. */
  function restore(principal: Principal, id: string): Promise<ClientSession | undefined> {
    const key = JSON.stringify([principal, id]);
    const restored = restoring.get(key) ?? reopen(principal, id).finally(() => restoring.delete(key));
    restoring.set(key, restored);
    return restored;
  }

  return {
    open: (principal: Principal): Promise<ClientSession> => create(principal, crypto.randomUUID(), []),
    /** Another owner's session looks the same as no session. */
    async find(principal: Principal, id: string): Promise<ClientSession | undefined> {
      const session = sessions.get(id);
      if (session) return session.belongsTo(principal) ? session : undefined;
      return restore(principal, id);
    },
    async close() {
      clearInterval(sweeper);
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}
