import type { App, Principal } from "../../app.ts";
import type { JsonObject } from "../../contract/values.ts";
import { errorFields } from "../../log.ts";
import type { CreateServer } from "../server.ts";
import { type ClientSession, openClientSession } from "./client-session.ts";
import { setupMessage } from "./client-setup.ts";

const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Above this many, one that is not in use makes room for the next. */
const MAX_IN_MEMORY = 1_000;

/** The MCP clients that are connected now. Most never say goodbye, so the silent ones are freed, and restored if they speak. */
export function createClientSessions(app: App, createServer: CreateServer) {
  const sessions = new Map<string, ClientSession>();
  const restoring = new Map<string, Promise<ClientSession>>();
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

  async function reopen(principal: Principal, id: string, recalled: JsonObject[]): Promise<ClientSession> {
    // Earlier versions have kept messages whole.
    const setup = recalled.map(setupMessage).filter((message) => message !== undefined);
    const unnoted = (cause: unknown) => app.log.debug("the use of an MCP session was not noted", errorFields(cause));
    app.mcpClients.remember(principal, id, setup).catch(unnoted);
    return create(principal, id, setup);
  }

  async function restore(principal: Principal, id: string): Promise<ClientSession | undefined> {
    const recalled = await app.mcpClients.recall(principal, id);
    if (!recalled) return undefined;
    // Two requests of one client may come at once; both must find the same session, also when it was restored by now.
    const known = sessions.get(id);
    if (known) return known;
    const restored = restoring.get(id) ?? reopen(principal, id, recalled).finally(() => restoring.delete(id));
    restoring.set(id, restored);
    return restored;
  }

  return {
    open: (principal: Principal): Promise<ClientSession> => create(principal, crypto.randomUUID(), []),
    /** Somebody else's session reads the same as none. */
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
