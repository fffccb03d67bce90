import { and, eq, gte, sql } from "drizzle-orm";
import type { ApprovalScope, DecidedPage, DecidedPlace, DecidedQuery } from "../../approvals.ts";
import { createTextSearch, type SearchedTexts } from "../../record/decided-search.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals } from "../tables.ts";
import { type ApprovalQueries, fittingRows } from "./approvals.ts";

/** One read looks at this many decisions, or about this many bytes, which takes a few milliseconds. */
const SLICE_ROWS = 1_000;
const SLICE_BYTES = 4 * 1024 * 1024;
/** In descending order this rowid comes after all others of the same time: rowids begin at 1. */
const BEFORE_ALL = 0;

/** Columns that are stored in the index or before the input, so that reading them doesn't load a large input. */
type Key = {
  place: number;
  id: string;
  at: number;
  owner: string;
  sessionId: string;
  toolName: string;
  bytes: number;
};

/** Reads decisions by time, along their index; each read looks at one slice. */
export function decidedApprovalQueries(orm: Orm, { get }: Pick<ApprovalQueries, "get">) {
  const at = sql.placeholder;
  const place = sql<number>`rowid`;
  const keys = orm
    .select({
      place,
      id: approvals.id,
      at: sql<number>`resolved_at`,
      owner: approvals.owner,
      sessionId: approvals.sessionId,
      toolName: approvals.toolName,
      bytes: sql<number>`octet_length(input) + coalesce(octet_length(updated_input), 0)`,
    })
    .from(approvals)
    .where(
      and(
        // SQLite uses the partial index only if the condition has the index's exact wording.
        sql`status <> 'pending'`,
        eq(approvals.isBuiltin, at("isBuiltin")),
        sql`(resolved_at, rowid) < (${at("at")}, ${at("place")})`,
        gte(approvals.resolvedAt, at("from")),
      ),
    )
    // Rows of one millisecond are ordered by rowid, so the index needs no id.
    .orderBy(sql`resolved_at DESC, rowid DESC`)
    .limit(at("rows"))
    .prepare();
  const texts = orm
    .select({
      place,
      sessionName: approvals.sessionName,
      toolName: approvals.toolName,
      status: approvals.status,
      responseMessage: approvals.responseMessage,
      resolvedBy: approvals.resolvedBy,
      input: sql<string>`input`,
      updatedInput: sql<string | null>`updated_input`,
    })
    .from(approvals)
    .where(sql`rowid IN (SELECT value FROM json_each(${at("places")}))`)
    .prepare();
  const placeOf = orm
    .select({ place })
    .from(approvals)
    .where(eq(approvals.id, at("id")))
    .prepare();

  function sliceBehind({ after, from = 0, until, withBuiltin = false }: DecidedQuery, rows: number): Key[] {
    const isBounded = until !== undefined && until <= (after?.at ?? Number.POSITIVE_INFINITY);
    const start = isBounded || !after ? { at: until ?? Number.MAX_SAFE_INTEGER, place: BEFORE_ALL } : startOf(after);
    const found = (withBuiltin ? [false, true] : [false]).map((isBuiltin) =>
      keys.all({ isBuiltin, from, rows, ...start }),
    );
    return found
      .flat()
      .sort((one, other) => other.at - one.at || other.place - one.place)
      .slice(0, rows);
  }

  /** If the cursor's row has been deleted, so have the older rows of its millisecond. */
  function startOf({ at, id }: DecidedPlace): { at: number; place: number } {
    return { at, place: placeOf.get({ id })?.place ?? BEFORE_ALL };
  }

  function matching(found: Key[], { status, search }: DecidedQuery): Key[] {
    if (status === "resolved" && search === undefined) return found;
    const places = JSON.stringify(found.map((key) => key.place));
    const byPlace = new Map<number, SearchedTexts>(texts.all({ places }).map((row) => [row.place, row]));
    const isFound = search === undefined ? () => true : createTextSearch(search);
    return found.filter((key) => {
      const row = byPlace.get(key.place);
      return row !== undefined && (status === "resolved" || row.status === status) && isFound(row);
    });
  }

  return {
    listDecided: (scope: ApprovalScope, query: DecidedQuery): DecidedPage => {
      const rows = isOfAll(scope, query) ? Math.min(SLICE_ROWS, query.limit + 1) : SLICE_ROWS;
      const slice = sliceBehind(query, rows);
      const inScope = slice.filter((key) => isInScope(key, scope, query));
      const read = fittingRows(inScope, SLICE_BYTES);
      const found = matching(read, query);
      const shown = fittingRows(found.slice(0, query.limit), query.maxBytes);
      const isCut = shown.length < found.length;
      const looked = read.length < inScope.length ? read.at(-1) : slice.length < rows ? undefined : slice.at(-1);
      return {
        rows: shown.flatMap(({ id }) => get(id) ?? []),
        bytes: shown.reduce((sum, { bytes }) => sum + bytes, 0),
        reached: placeAt(isCut ? shown.at(-1) : looked),
      };
    },
  };
}

/** Returns whether the query has no filter but time, so that it need look at no more decisions than it lists. */
function isOfAll({ owner, sessionId }: ApprovalScope, { toolName, status, search }: DecidedQuery): boolean {
  return [owner, sessionId, toolName, search].every((one) => one === undefined) && status === "resolved";
}

function isInScope(key: Key, scope: ApprovalScope, { toolName }: DecidedQuery): boolean {
  return (
    (scope.owner === undefined || key.owner === scope.owner) &&
    (scope.sessionId === undefined || key.sessionId === scope.sessionId) &&
    (toolName === undefined || key.toolName === toolName)
  );
}

function placeAt(key: Key | undefined): DecidedPlace | undefined {
  return key && { at: key.at, id: key.id };
}
