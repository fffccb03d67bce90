import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { UnaskedCallRow } from "../../unasked-calls.ts";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { turns, unaskedCalls } from "../tables.ts";

export type UnaskedCallQueries = ReturnType<typeof unaskedCallQueries>;

/** Queries on calls that ran although Plexus had not allowed them. */
export function unaskedCallQueries(orm: Orm) {
  const get = (id: string): UnaskedCallRow | undefined =>
    orm.select().from(unaskedCalls).where(eq(unaskedCalls.id, id)).get();

  return {
    get,
    /** Records the call and counts it in its turn. */
    add: (call: UnaskedCallRow): void => {
      orm.insert(unaskedCalls).values(call).run();
      orm.update(turns).set({ unasked: sql`unasked + 1` }).where(eq(turns.id, call.turnId)).run();
    },
    /** Returns as many as fit in memory, newest first, beginning after `cursor`: an input may be megabytes. */
    list: (
      scope: { owner?: string | undefined; sessionId?: string | undefined; turnId?: string | undefined },
      { cursor, limit }: { cursor?: string | undefined; limit: number },
    ): { rows: UnaskedCallRow[]; hasMore: boolean } => {
      const found = orm
        .select({ id: unaskedCalls.id, bytes: sql<number>`octet_length(input)` })
        .from(unaskedCalls)
        .where(
          and(
            cursor === undefined ? undefined : lt(unaskedCalls.id, cursor),
            scope.owner === undefined ? undefined : eq(unaskedCalls.owner, scope.owner),
            scope.sessionId === undefined ? undefined : eq(unaskedCalls.sessionId, scope.sessionId),
            scope.turnId === undefined ? undefined : eq(unaskedCalls.turnId, scope.turnId),
          ),
        )
        .orderBy(desc(unaskedCalls.id))
        .limit(limit + 1)
        .all();
      const shown = inOneStep(found.slice(0, limit));
      return { rows: shown.flatMap(({ id }) => get(id) ?? []), hasMore: shown.length < found.length };
    },
  };
}
