import type { WebhookPosition } from "../../changes.ts";
import type { Orm } from "../statements/orm.ts";
import { webhooks } from "../tables.ts";

/** Queries on the last change delivered to each webhook. */
export function webhookQueries(orm: Orm) {
  return {
    positions: (): WebhookPosition[] => orm.select().from(webhooks).all(),
    setPosition: ({ id, position }: WebhookPosition): void =>
      void orm
        .insert(webhooks)
        .values({ id, position })
        .onConflictDoUpdate({ target: webhooks.id, set: { position } })
        .run(),
    replaceAll: (positions: WebhookPosition[]): void => {
      orm.delete(webhooks).run();
      if (positions.length > 0) orm.insert(webhooks).values(positions).run();
    },
  };
}
