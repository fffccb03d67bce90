import { and, asc, desc, eq, gte, lt, lte, type SQL, sql } from "drizzle-orm";
import type { ApprovalFilter, ApprovalStatus } from "../schema/approval.ts";
import type { JsonObject } from "../schema/values.ts";
import type { Orm } from "./database.ts";
import { decidedApprovalQueries } from "./decided-approvals.ts";
import { approvals } from "./tables.ts";

export type ApprovalRow = typeof approvals.$inferSelect;
export type NewApproval = Pick<
  ApprovalRow,
  | "id"
  | "sessionId"
  | "sessionName"
  | "owner"
  | "toolName"
  | "toolUseId"
  | "input"
  | "askHash"
  | "createdAt"
  | "expiresAt"
>;
/** All that is small: an input may be megabytes, and deciding needs none of it. */
export type ApprovalHead = Pick<
  ApprovalRow,
  | "id"
  | "sessionId"
  | "owner"
  | "toolName"
  | "toolUseId"
  | "status"
  | "createdAt"
  | "expiresAt"
  | "resolvedAt"
  | "resolvedBy"
>;
/** As many approvals, from the front, as fit in one page. */
export type ApprovalPage = { rows: ApprovalRow[]; hasMore: boolean };
export type Outcome = {
  status: Exclude<ApprovalStatus, "pending">;
  responseMessage: string | null;
  updatedInput: JsonObject | null;
  interrupt: boolean;
  resolvedAt: number;
  resolvedBy: string;
};
/** Which approvals are meant: those of one owner or session, or all. */
export type ApprovalScope = { owner?: string | undefined; sessionId?: string | undefined };

/** What a page may hold in memory; the first approval always fits. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

const head = {
  id: approvals.id,
  sessionId: approvals.sessionId,
  owner: approvals.owner,
  toolName: approvals.toolName,
  toolUseId: approvals.toolUseId,
  status: approvals.status,
  createdAt: approvals.createdAt,
  expiresAt: approvals.expiresAt,
  resolvedAt: approvals.resolvedAt,
  resolvedBy: approvals.resolvedBy,
};

type Page = {
  status?: ApprovalFilter | undefined;
  toolName?: string | undefined;
  decidedFrom?: number | undefined;
  cursor?: string | undefined;
};

/** Spelled as in the partial indexes, which are used only then. */
const isPending = sql`status = 'pending'`;
/** The few pending rows are found by their index and sorted; along the ids SQLite would read every decided one too. */
const sortedId = sql`+id`;

/** Queries on `loopback_approvals`. What writes is called inside a transaction of the writer. */
export function approvalQueries(orm: Orm) {
  const at = sql.placeholder;
  const insert = orm
    .insert(approvals)
    .values({
      id: at("id"),
      sessionId: at("sessionId"),
      sessionName: at("sessionName"),
      owner: at("owner"),
      toolName: at("toolName"),
      toolUseId: at("toolUseId"),
      input: at("input"),
      askHash: at("askHash"),
      status: "pending",
      createdAt: at("createdAt"),
      expiresAt: at("expiresAt"),
    })
    .returning(head)
    .prepare();
  const byId = orm
    .select()
    .from(approvals)
    .where(eq(approvals.id, at("id")))
    .prepare();
  const headById = orm
    .select(head)
    .from(approvals)
    .where(eq(approvals.id, at("id")))
    .prepare();
  const sameAsk = orm
    .select(head)
    .from(approvals)
    .where(
      and(
        eq(approvals.sessionId, at("sessionId")),
        eq(approvals.toolUseId, at("toolUseId")),
        eq(approvals.askHash, at("askHash")),
        sql`tool_use_id IS NOT NULL`,
        sql`status <> 'abandoned'`,
      ),
    )
    .prepare();
  const settle = orm
    .update(approvals)
    .set({
      status: sql`${at("status")}`,
      responseMessage: sql`${at("responseMessage")}`,
      updatedInput: sql`${at("updatedInput")}`,
      interrupt: sql`${at("interrupt")}`,
      resolvedAt: sql`${at("resolvedAt")}`,
      resolvedBy: sql`${at("resolvedBy")}`,
    })
    .where(and(eq(approvals.id, at("id")), isPending))
    .returning(head)
    .prepare();
  const due = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(isPending, lte(approvals.expiresAt, at("now"))))
    .orderBy(asc(approvals.expiresAt))
    .limit(at("limit"))
    .prepare();
  const deadline = orm.select({ at: sql<number | null>`min(expires_at)` }).from(approvals).where(isPending).prepare();
  const pendingIds = orm.select({ id: approvals.id }).from(approvals).where(isPending).prepare();
  const pendingOfSession = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(eq(approvals.sessionId, at("sessionId")), isPending))
    .prepare();
  const countPending = orm
    .select({ count: sql<number>`count(*)` })
    .from(approvals)
    .where(and(eq(approvals.sessionId, at("sessionId")), isPending))
    .prepare();

  return {
    ...decidedApprovalQueries(orm),
    create: (approval: NewApproval): ApprovalHead => insert.get(approval),
    get: (id: string): ApprovalRow | undefined => byId.get({ id }),
    head: (id: string): ApprovalHead | undefined => headById.get({ id }),
    /** The approval that this very ask opened before, unless its child had gone meanwhile. */
    findSameAsk: (ask: { sessionId: string; toolUseId: string; askHash: string }): ApprovalHead | undefined =>
      sameAsk.get(ask),
    /** The one place where an approval is decided: `undefined` means that somebody was first, or that there is none. */
    settleIfPending: (id: string, outcome: Outcome): ApprovalHead | undefined =>
      settle.get({
        id,
        ...outcome,
        updatedInput: outcome.updatedInput && JSON.stringify(outcome.updatedInput),
        interrupt: outcome.interrupt ? 1 : 0,
      }),
    /** Pending ones past their deadline, the longest overdue first. */
    dueIds: (now: number, limit: number): string[] => due.all({ now, limit }).map((row) => row.id),
    nextDeadline: (): number | undefined => deadline.get()?.at ?? undefined,
    pendingIds: (): Set<string> => new Set(pendingIds.all().map((row) => row.id)),
    pendingIdsOf: (sessionId: string): string[] => pendingOfSession.all({ sessionId }).map((row) => row.id),
    countPending: (sessionId: string): number => countPending.get({ sessionId })?.count ?? 0,
    /** Oldest first. */
    listPending: (scope: ApprovalScope, limit: number): ApprovalPage =>
      load(
        orm
          .select(size)
          .from(approvals)
          .where(and(isPending, ...within(scope)))
          .orderBy(scope.sessionId === undefined ? sortedId : asc(approvals.id))
          .limit(limit + 1)
          .all(),
        limit,
      ),
    /** Newest first, beginning after `cursor`. */
    list: (scope: ApprovalScope, page: Page & { limit: number }): ApprovalPage =>
      load(
        orm
          .select(size)
          .from(approvals)
          .where(and(...within(scope), ...onPage(page)))
          .orderBy(desc(page.status === "pending" ? sortedId : approvals.id))
          .limit(page.limit + 1)
          .all(),
        page.limit,
      ),
  };

  /** Loads the rows that were found, up to the limit and as far as their inputs fit in a page. */
  function load(found: { id: string; bytes: number }[], limit: number): ApprovalPage {
    let bytes = 0;
    const shown = found.slice(0, limit).filter((row, index) => {
      bytes += row.bytes;
      return index === 0 || bytes <= MAX_PAGE_BYTES;
    });
    const rows = shown.flatMap(({ id }) => byId.get({ id }) ?? []);
    return { rows, hasMore: shown.length < found.length };
  }
}

const size = { id: approvals.id, bytes: sql<number>`octet_length(input)` };

const AFTER_EVERY_ID = "~";

/** Bounded by id even on the first page, or all rows of a status would be sorted. */
function onPage({ status, toolName, decidedFrom, cursor = AFTER_EVERY_ID }: Page): (SQL | undefined)[] {
  const wanted = [
    toolName === undefined ? undefined : eq(approvals.toolName, toolName),
    decidedFrom === undefined ? undefined : gte(approvals.resolvedAt, decidedFrom),
  ];
  if (status === "pending") return [isPending, ...wanted, lt(sortedId, cursor)];
  if (status === "resolved") return [sql`status <> 'pending'`, ...wanted, lt(approvals.id, cursor)];
  return [status && eq(approvals.status, status), ...wanted, lt(approvals.id, cursor)];
}

function within(scope: ApprovalScope): (SQL | undefined)[] {
  return [
    scope.owner === undefined ? undefined : eq(approvals.owner, scope.owner),
    scope.sessionId === undefined ? undefined : eq(approvals.sessionId, scope.sessionId),
  ];
}
