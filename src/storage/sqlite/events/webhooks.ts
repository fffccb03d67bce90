import { eq } from "drizzle-orm";
import type { Orm } from "../database.ts";
import { webhooks } from "../tables.ts";

/** Queries on how far webhooks have been told. */
export function webhookQueries(orm: Orm) {
  return {
    position: (id: string): number | undefined =>
      orm.select().from(webhooks).where(eq(webhooks.id, id)).get()?.position,
    setPosition: (id: string, position: number): void =>
      void orm
        .insert(webhooks)
        .values({ id, position })
        .onConflictDoUpdate({ target: webhooks.id, set: { position } })
        .run(),
    ids: (): string[] =>
      orm
        .select({ id: webhooks.id })
        .from(webhooks)
        .all()
        .map(({ id }) => id),
    remove: (id: string): void => void orm.delete(webhooks).where(eq(webhooks.id, id)).run(),
  };
}
