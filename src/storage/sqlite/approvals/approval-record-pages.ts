import { and, desc, eq, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { ApprovalQuery, ApprovalScope } from "../../approvals.ts";
import type { PastQuery } from "../../past.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals } from "../tables.ts";

/** Matches are counted up to this number: fewer can all be read, and more fill a page soon. */
const FEW = 1_000;

/** What is read of an approval before its row is loaded. */
export const size = { id: approvals.id, bytes: sql<number>`octet_length(input)` };
const isByPeople = sql`is_builtin = 0`;
const isByBuiltin = sql`is_builtin = 1`;
type Found = { id: string; bytes: number };

/** One filter of a page: `by` lets SQLite use the column's own index; `beside` is for use along another index. */
type Filter = { by?: SQL; beside: SQL };
type Indexed = Required<Filter>;

/**
 * Pages of the record, newest first. Filters can be combined freely, and not every pair has an index: the query uses
 * the index of the filter with the fewest matches and checks the other filters row by row.
 */
export function recordQueries(orm: Orm) {
  /** Counts a filter's matches, up to `FEW`. */
  function leaves({ by }: Indexed): number {
    const some = orm.select({ one: sql`1` }).from(approvals).where(by).limit(FEW).as("some");
    return orm.select({ count: sql<number>`count(*)` }).from(some).get()?.count ?? 0;
  }

  /** Returns the conditions: the most selective filter may use its index, the others may not. */
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
    /** Returns up to one more than the limit, which tells whether there are more. */
    page(scope: ApprovalScope, { toolName, withBuiltin, cursor, limit }: ApprovalQuery): Found[] {
      const filters = [...filtersOf(scope), ...(toolName === undefined ? [] : [filter(approvals.toolName, toolName)])];
      const where = narrowed(filters);
      if (!withBuiltin) return ids([...where, isByPeople], cursor, limit + 1);
      if (!filters.some(isIndexed)) return ids(where, cursor, limit + 1);
      const both = [isByPeople, isByBuiltin].flatMap((kind) => ids([...where, kind], cursor, limit + 1));
      return newestFirst(both, limit + 1);
    },

    /** Returns the conditions for requests of the past: by people, and, unless all are wanted, decided and uncut. */
    past({ owner, sessionId, toolName, withAll, before }: PastQuery): SQL | undefined {
      const tool = toolName === undefined ? [] : [filter(approvals.toolName, toolName)];
      const decided = withAll ? [] : [sql`+status <> 'pending'`, isNull(approvals.inputCutAt)];
      const older = before === undefined ? undefined : lt(approvals.id, before);
      return and(...narrowed([...filtersOf({ owner, sessionId }), ...tool]), isByPeople, ...decided, older);
    },
  };
}

function newestFirst(found: Found[], limit: number): Found[] {
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/** A session has one owner, so the session's index suffices. */
function filtersOf({ owner, sessionId }: ApprovalScope): Filter[] {
  const ofSession = sessionId === undefined ? [] : [filter(approvals.sessionId, sessionId)];
  if (owner === undefined) return ofSession;
  const { by, beside } = filter(approvals.owner, owner);
  if (sessionId !== undefined || owner === "operator") return [...ofSession, { beside }];
  // SQLite uses the partial index only if the condition has the index's exact wording.
  return [{ by: sql`${by} AND owner <> 'operator'`, beside }];
}

function isIndexed(filter: Filter): filter is Indexed {
  return filter.by !== undefined;
}

/** The plus sign keeps SQLite from using an index on the column. */
function filter(column: SQLiteColumn, value: string): Indexed {
  return { by: eq(column, value), beside: sql`+${column} = ${value}` };
}
