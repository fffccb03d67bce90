import { eq, lt, notInArray, sql } from "drizzle-orm";
import type { LinkRow } from "../../links.ts";
import type { Orm } from "../statements/orm.ts";
import { approvalLinks } from "../tables.ts";

export type LinkQueries = ReturnType<typeof linkQueries>;

export function linkQueries(orm: Orm) {
  const byId = orm
    .select()
    .from(approvalLinks)
    .where(eq(approvalLinks.id, sql.placeholder("id")))
    .prepare();
  return {
    get: (id: string): LinkRow | undefined => byId.get({ id }),
    createIfNew: (link: LinkRow): void => void orm.insert(approvalLinks).values(link).onConflictDoNothing().run(),
    removeExpiredBefore: (before: number): void =>
      void orm.delete(approvalLinks).where(lt(approvalLinks.expiresAt, before)).run(),
    /** Returns how many it deleted. */
    removeAllBut: (webhookIds: string[]): number =>
      orm
        .delete(approvalLinks)
        .where(notInArray(approvalLinks.webhookId, webhookIds))
        .returning({ id: approvalLinks.id })
        .all().length,
  };
}
