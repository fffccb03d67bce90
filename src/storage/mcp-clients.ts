import { eq, inArray, lt } from "drizzle-orm";
import type { Orm } from "./database.ts";
import { mcpClients } from "./tables.ts";

export type McpClientRow = typeof mcpClients.$inferSelect;

export function mcpClientQueries(orm: Orm) {
  return {
    get: (id: string): McpClientRow | undefined => orm.select().from(mcpClients).where(eq(mcpClients.id, id)).get(),
    save: (client: McpClientRow): void => {
      const { setup, usedAt } = client;
      orm.insert(mcpClients).values(client).onConflictDoUpdate({ target: mcpClients.id, set: { setup, usedAt } }).run();
    },
    remove: (id: string): void => void orm.delete(mcpClients).where(eq(mcpClients.id, id)).run(),
    removeOwned: (owner: string): void => void orm.delete(mcpClients).where(eq(mcpClients.owner, owner)).run(),
    /** Forgets up to `limit` of those last used before `before`; tells how many. */
    removeUnusedSince: (before: number, limit: number): number => {
      const old = orm.select({ id: mcpClients.id }).from(mcpClients).where(lt(mcpClients.usedAt, before)).limit(limit);
      return orm.delete(mcpClients).where(inArray(mcpClients.id, old)).returning({ id: mcpClients.id }).all().length;
    },
  };
}
