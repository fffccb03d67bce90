import { asc, eq, inArray, lt, sql } from "drizzle-orm";
import type { McpClientRow } from "../../access.ts";
import type { Orm } from "../statements/orm.ts";
import { mcpClients } from "../tables.ts";

export type McpClientQueries = ReturnType<typeof mcpClientQueries>;

export function mcpClientQueries(orm: Orm) {
  const countOf = orm
    .select({ count: sql<number>`count(*)` })
    .from(mcpClients)
    .where(eq(mcpClients.owner, sql.placeholder("owner")))
    .prepare();
  return {
    get: (id: string): McpClientRow | undefined => orm.select().from(mcpClients).where(eq(mcpClients.id, id)).get(),
    save: (client: McpClientRow): void => {
      const { setup, usedAt } = client;
      orm.insert(mcpClients).values(client).onConflictDoUpdate({ target: mcpClients.id, set: { setup, usedAt } }).run();
    },
    remove: (id: string): void => void orm.delete(mcpClients).where(eq(mcpClients.id, id)).run(),
    removeOwned: (owner: string): void => void orm.delete(mcpClients).where(eq(mcpClients.owner, owner)).run(),
    /** Keeps only the `most` recently used clients of this owner. */
    removeOldestOf: (owner: string, most: number): void => {
      const excess = (countOf.get({ owner })?.count ?? 0) - most;
      if (excess <= 0) return;
      const old = orm
        .select({ id: mcpClients.id })
        .from(mcpClients)
        .where(eq(mcpClients.owner, owner))
        .orderBy(asc(mcpClients.usedAt), sql`rowid`)
        .limit(excess);
      orm.delete(mcpClients).where(inArray(mcpClients.id, old)).run();
    },
    /** Deletes up to `limit` clients last used before `before`; returns how many. */
    removeUnusedSince: (before: number, limit: number): number => {
      const old = orm.select({ id: mcpClients.id }).from(mcpClients).where(lt(mcpClients.usedAt, before)).limit(limit);
      return orm.delete(mcpClients).where(inArray(mcpClients.id, old)).returning({ id: mcpClients.id }).all().length;
    },
  };
}
