import { and, desc, eq, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { ApprovalQuery, ApprovalScope } from "../../approvals.ts";
import type { PastQuery } from "../../rules.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals } from "../tables.ts";

/** A filter that leaves fewer than this is read whole; one that leaves more fills a page soon. */
const FEW = 1_000;

/** What is known of an approval before it is loaded. */
export const size = { id: approvals.id, bytes: sql<number>`octet_length(input)` };
const isByPeople = sql`is_builtin = 0`;
const isByBuiltin = sql`is_builtin = 1`;
type Found = { id: string; bytes: number };

/** One filter of a page: as it is written where its own index, if it has one, is to be used, and where that of another is. */
type Filter = { by?: SQL; beside: SQL };
type Indexed = Required<Filter>;

/**
 * Pages of the record, newest first. There are many ways to ask, and a database that has grown has no index for each pair
 * of filters: the filter that leaves the fewest is looked for, and the others are checked along its index.
 */
export function recordQueries(orm: Orm) {
  /** How many a filter leaves, as far as that is few. */
  function leaves({ by }: Indexed): number {
    const some = orm.select({ one: sql`1` }).from(approvals).where(by).limit(FEW).as("some");
    return orm.select({ count: sql<number>`count(*)` }).from(some).get()?.count ?? 0;
  }

  /** The narrowest of the filters with its index, and the others without theirs. */
  function narrowed(filters: Filter[]): SQL[] {
    const indexed = filters.filter(isIndexed);
    const counted = indexed.length > 1 ? indexed.map((filter) => ({ filter, count: leaves(filter) })) : [];
    const narrowest = counted.toSorted((a, b) => a.count - b.count)[0]?.filter ?? indexed[0];
    return filters.map((filter) => (filter === narrowest ? narrowest.by : filter.beside));
  }

  function ids(where: (SQL | undefined)[], cursor: string | undefined, limit: number): Found[] {
    return orm
      .select(size)
      .from(approvals)
      .where(and(...where, cursor === undefined ? undefined : lt(approvals.id, cursor)))
      .orderBy(desc(approvals.id))
      .limit(limit)
      .all();
  }

  return {
    /** One more than the limit, where there are. */
    page(scope: ApprovalScope, { toolName, withBuiltin, cursor, limit }: ApprovalQuery): Found[] {
      const filters = [...filtersOf(scope), ...(toolName === undefined ? [] : [filter(approvals.toolName, toolName)])];
      const where = narrowed(filters);
      if (!withBuiltin) return ids([...where, isByPeople], cursor, limit + 1);
      if (!filters.some(isIndexed)) return ids(where, cursor, limit + 1);
      const both = [isByPeople, isByBuiltin].flatMap((kind) => ids([...where, kind], cursor, limit + 1));
      return newestFirst(both, limit + 1);
    },

    /** Which decided requests a rule could have covered. */
    past({ owner, sessionId, toolNames, before, limit }: PastQuery): string[] {
      const scope = filtersOf({ owner, sessionId });
      const decided = [sql`+status <> 'pending'`, isNull(approvals.inputCutAt)];
      const ofEach = toolNames.length === 0 ? [[]] : toolNames.map((name) => [filter(approvals.toolName, name)]);
      const found = ofEach.flatMap((tool) =>
        ids([...narrowed([...scope, ...tool]), isByPeople, ...decided], before, limit),
      );
      return newestFirst(found, limit).map(({ id }) => id);
    },
  };
}

function newestFirst(found: Found[], limit: number): Found[] {
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/** A session has one owner, so that its index says all. */
function filtersOf({ owner, sessionId }: ApprovalScope): Filter[] {
  const ofSession = sessionId === undefined ? [] : [filter(approvals.sessionId, sessionId)];
  if (owner === undefined) return ofSession;
  const { by, beside } = filter(approvals.owner, owner);
  if (sessionId !== undefined || owner === "operator") return [...ofSession, { beside }];
  // Spelled as in the partial index, which is used only then.
  return [{ by: sql`${by} AND owner <> 'operator'`, beside }];
}

function isIndexed(filter: Filter): filter is Indexed {
  return filter.by !== undefined;
}

/** A plus sign keeps a column from being looked up in an index. */
function filter(column: SQLiteColumn, value: string): Indexed {
  return { by: eq(column, value), beside: sql`+${column} = ${value}` };
}
