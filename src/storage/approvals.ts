import { and, asc, desc, eq, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import type { ApprovalStatus } from "../schema/approval.ts";
import type { JsonObject } from "../schema/values.ts";
import type { Orm } from "./database.ts";
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
/** From when to when an approval may be decided. */
export type AskedSpan = Pick<ApprovalRow, "createdAt" | "expiresAt">;
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

type Page = { status?: ApprovalStatus | undefined; cursor?: string | undefined };

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
    .returning()
    .prepare();
  const byId = orm
    .select()
    .from(approvals)
    .where(eq(approvals.id, at("id")))
    .prepare();
  const sameAsk = orm
    .select()
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
    .returning()
    .prepare();
  const span = orm
    .select({ createdAt: approvals.createdAt, expiresAt: approvals.expiresAt })
    .from(approvals)
    .where(and(eq(approvals.id, at("id")), isPending))
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
  const countPending = orm
    .select({ count: sql<number>`count(*)` })
    .from(approvals)
    .where(and(eq(approvals.sessionId, at("sessionId")), isPending))
    .prepare();

  return {
    create: (approval: NewApproval): ApprovalRow => insert.get(approval),
    get: (id: string): ApprovalRow | undefined => byId.get({ id }),
    /** The approval that this very ask opened before, unless its child had gone meanwhile. */
    findSameAsk: (ask: { sessionId: string; toolUseId: string; askHash: string }): ApprovalRow | undefined =>
      sameAsk.get(ask),
    /** The one place where an approval is decided: `undefined` means that somebody was first, or that there is none. */
    settleIfPending: (id: string, outcome: Outcome): ApprovalRow | undefined =>
      settle.get({
        id,
        ...outcome,
        updatedInput: outcome.updatedInput && JSON.stringify(outcome.updatedInput),
        interrupt: outcome.interrupt ? 1 : 0,
      }),
    spanIfPending: (id: string): AskedSpan | undefined => span.get({ id }),
    /** Pending ones past their deadline, the longest overdue first. */
    dueIds: (now: number, limit: number): string[] => due.all({ now, limit }).map((row) => row.id),
    nextDeadline: (): number | undefined => deadline.get()?.at ?? undefined,
    pendingIds: (): Set<string> => new Set(pendingIds.all().map((row) => row.id)),
    countPending: (sessionId: string): number => countPending.get({ sessionId })?.count ?? 0,
    /** Oldest first. */
    listPending: (scope: ApprovalScope, limit: number): ApprovalRow[] =>
      orm
        .select()
        .from(approvals)
        .where(and(isPending, ...within(scope)))
        .orderBy(scope.sessionId === undefined ? sortedId : asc(approvals.id))
        .limit(limit)
        .all(),
    /** Newest first, beginning after `cursor`. */
    list: (scope: ApprovalScope, page: Page & { limit: number }): ApprovalRow[] =>
      orm
        .select()
        .from(approvals)
        .where(and(...within(scope), ...onPage(page)))
        .orderBy(desc(page.status === "pending" ? sortedId : approvals.id))
        .limit(page.limit)
        .all(),
    /** Forgets up to `limit` of those decided before `before`; tells how many. */
    removeResolvedBefore: (before: number, limit: number): number => {
      const old = orm
        .select({ id: approvals.id })
        .from(approvals)
        .where(and(sql`status <> 'pending'`, lt(approvals.resolvedAt, before)))
        .limit(limit);
      return orm.delete(approvals).where(inArray(approvals.id, old)).returning({ id: approvals.id }).all().length;
    },
  };
}

const AFTER_EVERY_ID = "~";

/** Bounded by id even on the first page, or all rows of a status would be sorted. */
function onPage({ status, cursor = AFTER_EVERY_ID }: Page): (SQL | undefined)[] {
  if (status === "pending") return [isPending, lt(sortedId, cursor)];
  return [status && eq(approvals.status, status), lt(approvals.id, cursor)];
}

function within(scope: ApprovalScope): (SQL | undefined)[] {
  return [
    scope.owner === undefined ? undefined : eq(approvals.owner, scope.owner),
    scope.sessionId === undefined ? undefined : eq(approvals.sessionId, scope.sessionId),
  ];
}
