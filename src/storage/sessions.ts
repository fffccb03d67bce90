import { and, desc, eq, or, sql } from "drizzle-orm";
import type { Orm } from "./database.ts";
import { sessions } from "./tables.ts";

export type SessionRow = typeof sessions.$inferSelect;

export function sessionQueries(orm: Orm) {
  const at = sql.placeholder;
  const byId = orm
    .select()
    .from(sessions)
    .where(eq(sessions.id, at("id")))
    .prepare();
  const byIdOrName = orm
    .select()
    .from(sessions)
    .where(or(eq(sessions.id, at("key")), and(eq(sessions.owner, at("owner")), eq(sessions.name, at("key")))))
    .orderBy(desc(eq(sessions.id, at("key"))))
    .prepare();

  return {
    get: (id: string): SessionRow | undefined => byId.get({ id }),
    /** By id, else by the name that this owner gave it. */
    find: (owner: string, key: string): SessionRow | undefined => byIdOrName.get({ owner, key }),
    /** Returns `undefined` when the owner has a session of that name. */
    createIfNameFree: (session: SessionRow): SessionRow | undefined =>
      orm.insert(sessions).values(session).onConflictDoNothing().returning().get(),
    /** Newest first. */
    list: (owner: string | undefined, limit: number): SessionRow[] =>
      orm
        .select()
        .from(sessions)
        .where(owner === undefined ? undefined : eq(sessions.owner, owner))
        .orderBy(desc(sessions.id))
        .limit(limit)
        .all(),
    setConversation: (id: string, conversation: { claudeSessionId: string; totalCostUsd: number }): void =>
      void orm
        .update(sessions)
        .set({ ...conversation, forkedFrom: null })
        .where(eq(sessions.id, id))
        .run(),
    setHead: (id: string, headNodeId: string): void =>
      void orm.update(sessions).set({ headNodeId }).where(eq(sessions.id, id)).run(),
    countOnTree: (treeId: string): number =>
      orm.select({ count: sql<number>`count(*)` }).from(sessions).where(eq(sessions.treeId, treeId)).get()?.count ?? 0,
    remove: (id: string): void => void orm.delete(sessions).where(eq(sessions.id, id)).run(),
  };
}
