import { and, asc, eq, gt, lt, ne, sql } from "drizzle-orm";
import type { LivePushSubscription, PushStorage, PushSubscriptionRow, UntoldRequest } from "../../push.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals, pushSubscriptions, tokens } from "../tables.ts";
import type { Write } from "../writer.ts";
import type { TokenQueries } from "./tokens.ts";

export type PushQueries = ReturnType<typeof pushQueries>;

/** Queries on the browsers that are told by push; the end of a page's token removes its own. */
export function pushQueries(orm: Orm) {
  const living = orm
    .select({ row: pushSubscriptions, namedId: tokens.name, signedInAt: tokens.createdAt })
    .from(pushSubscriptions)
    .innerJoin(tokens, eq(tokens.id, pushSubscriptions.tokenId))
    .where(gt(tokens.createdAt, sql.placeholder("since")))
    .orderBy(asc(pushSubscriptions.id))
    .prepare();
  // The few pending ones are found by their index, which is used only when it is spelled like this, and sorted.
  const untold = orm
    .select({ id: approvals.id, createdAt: approvals.createdAt })
    .from(approvals)
    .where(
      and(
        sql`status = 'pending'`,
        sql`+id > ${sql.placeholder("toldId")}`,
        sql`(${sql.placeholder("ofOwner")} IS NULL OR owner = ${sql.placeholder("ofOwner")})`,
      ),
    )
    .orderBy(sql`+id`)
    .limit(sql.placeholder("limit"))
    .prepare();
  return {
    untold: ({ owner, toldId }: Pick<LivePushSubscription, "owner" | "toldId">, limit: number): UntoldRequest[] =>
      untold.all({ toldId, ofOwner: owner ?? null, limit }),
    list: (since: number): LivePushSubscription[] =>
      living.all({ since }).map(({ row, namedId, signedInAt }) => ({
        ...row,
        owner: namedId === null ? undefined : `token:${namedId}`,
        signedInAt,
      })),
    save: (subscription: PushSubscriptionRow): PushSubscriptionRow => {
      const { id: _, toldId: __, createdAt: ___, ...set } = subscription;
      const { tokenId, endpoint } = subscription;
      orm
        .delete(pushSubscriptions)
        .where(and(eq(pushSubscriptions.tokenId, tokenId), ne(pushSubscriptions.endpoint, endpoint)))
        .run();
      return orm
        .insert(pushSubscriptions)
        .values(subscription)
        .onConflictDoUpdate({ target: pushSubscriptions.endpoint, set })
        .returning()
        .get();
    },
    setTold: (id: string, toldId: string): void =>
      void orm
        .update(pushSubscriptions)
        .set({ toldId })
        .where(and(eq(pushSubscriptions.id, id), lt(pushSubscriptions.toldId, toldId)))
        .run(),
    remove: (id: string, endpoint: string | undefined): boolean =>
      orm
        .delete(pushSubscriptions)
        .where(
          and(
            eq(pushSubscriptions.id, id),
            endpoint === undefined ? undefined : eq(pushSubscriptions.endpoint, endpoint),
          ),
        )
        .returning({ id: pushSubscriptions.id })
        .get() !== undefined,
  };
}

type PushCommandsNeed = { write: Write; push: PushQueries; tokens: TokenQueries };

export function pushCommands({ write, push, tokens }: PushCommandsNeed): Omit<PushStorage, "list" | "untold"> {
  return {
    save: (subscription) => write(() => (tokens.isRevoked(subscription.tokenId) ? undefined : push.save(subscription))),
    setTold: (id, toldId) => write(() => push.setTold(id, toldId)),
    remove: (id, endpoint) => write(() => push.remove(id, endpoint)),
  };
}
