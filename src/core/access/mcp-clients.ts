import type { JsonObject } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal } from "./principals.ts";

/** More than one owner has at work: those that were not used for the longest are forgotten, and initialize again. */
const MOST_OF_ONE = 1_000;

export type McpClients = ReturnType<typeof createMcpClients>;

/** Remembers what MCP clients have set up with us, so that neither a restart nor our freeing of idle ones shows to them. */
export function createMcpClients({ storage, now }: { storage: Pick<Storage, "mcpClients">; now: () => number }) {
  return {
    /** Keeps the messages that brought a client to where it is. */
    remember: (principal: Principal, id: string, setup: JsonObject[]): Promise<void> =>
      storage.mcpClients.save({ id, owner: ownerKey(principal), setup, usedAt: now() }, MOST_OF_ONE),
    /** Those messages again; somebody else's client reads the same as none. */
    async recall(principal: Principal, id: string): Promise<JsonObject[] | undefined> {
      const row = await storage.mcpClients.get(id);
      return row?.owner === ownerKey(principal) ? row.setup : undefined;
    },
    forget: (id: string): Promise<void> => storage.mcpClients.remove(id),
  };
}
