import type { JsonObject } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal } from "./principals.ts";

/**
 * More than one owner uses at a time. Beyond that, the clients unused for longest are forgotten, and must initialize
 * again.
 */
const MOST_OF_ONE = 1_000;

export type McpClients = ReturnType<typeof createMcpClients>;

/**
 * Stores the setup of MCP clients, so that a client notices neither a restart nor the removal of its idle session from
 * memory.
 */
export function createMcpClients({ storage, now }: { storage: Pick<Storage, "mcpClients">; now: () => number }) {
  return {
    /** Stores the messages that set up a client. */
    remember: (principal: Principal, id: string, setup: JsonObject[]): Promise<void> =>
      storage.mcpClients.save({ id, owner: ownerKey(principal), setup, usedAt: now() }, MOST_OF_ONE),
    /** Returns those messages; `undefined` also for another owner's client. */
    async recall(principal: Principal, id: string): Promise<JsonObject[] | undefined> {
      const row = await storage.mcpClients.get(id);
      return row?.owner === ownerKey(principal) ? row.setup : undefined;
    },
    forget: (id: string): Promise<void> => storage.mcpClients.remove(id),
  };
}
