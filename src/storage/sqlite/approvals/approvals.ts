import { and, asc, desc, eq, gte, lt, lte, type SQL, sql } from "drizzle-orm";
import type { ApprovalFilter, ApprovalStatus } from "../../../contract/approvals/approval.ts";
import { fitting } from "../../../contract/fit.ts";
import type { JsonObject } from "../../../contract/values.ts";
import type { Orm } from "../database.ts";
import { approvals } from "../tables.ts";
import { type ApprovalHead, type ApprovalRow, head } from "./approval-head.ts";
import { largeApprovalQueries } from "./large-approvals.ts";
import { unchainedApprovalQueries } from "./unchained-approvals.ts";
import { usedApprovalQueries } from "./used-approvals.ts";

export type { ApprovalHead, ApprovalRow } from "./approval-head.ts";
export type NewApproval = Pick<
  ApprovalRow,
  | "id"
  | "sessionId"
  | "sessionName"
  | "approvalFromEvent"
  | "owner"
  | "toolName"
  | "toolUseId"
  | "asker"
  | "input"
  | "askHash"
  | "createdAt"
  | "expiresAt"
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
  /** Where a child waits for it, the moment of the decision: it is used up then. */
  deliveredAt: number | null;
};
/** An outcome with its place in the hash chain; one without stands for those from before there was a chain. */
export type ChainedOutcome = Outcome & { auditSeq: number | null };
/** Which approvals are meant: those of one owner or session, or all. */
export type ApprovalScope = { owner?: string | undefined; sessionId?: string | undefined };

/** What a page may hold in memory; the first approval always fits. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

type Page = {
  status?: ApprovalFilter | undefined;
  toolName?: string | undefined;
  decidedFrom?: number | undefined;
  /** Whether what built-in rules decided is listed too. */
  withBuiltin?: boolean | undefined;
  cursor?: string | undefined;
};

const UNDECIDED = {
  status: "pending",
  resolvedAt: null,
  resolvedBy: null,
  deliveredAt: null,
  isBuiltin: false,
} as const;
/** Spelled as in the partial indexes, which are used only then. */
const isPending = sql`status = 'pending'`;
/** The few pending rows are found by their index and sorted; along the ids SQLite would read every decided one too. */
const sortedId = sql`+id`;

/** Queries on `loopback_approvals`. What writes is called inside a transaction of the writer. */
export function approvalQueries(orm: Orm) {
  const at = sql.placeholder;
  const asked = {
    id: at("id"),
    sessionId: at("sessionId"),
    sessionName: at("sessionName"),
    approvalFromEvent: at("approvalFromEvent"),
    owner: at("owner"),
    toolName: at("toolName"),
    toolUseId: at("toolUseId"),
    asker: at("asker"),
    input: at("input"),
    askHash: at("askHash"),
    createdAt: at("createdAt"),
    expiresAt: at("expiresAt"),
  };
  const insert = orm
    .insert(approvals)
    .values({ ...asked, status: "pending" })
    .prepare();
  const insertDecided = orm
    .insert(approvals)
    .values({
      ...asked,
      status: at("status"),
      responseMessage: at("responseMessage"),
      isBuiltin: true,
      resolvedAt: at("createdAt"),
      resolvedBy: at("resolvedBy"),
      deliveredAt: at("createdAt"),
      auditSeq: at("auditSeq"),
    })
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
        eq(approvals.approvalFromEvent, at("approvalFromEvent")),
        eq(approvals.toolUseId, at("toolUseId")),
        eq(approvals.askHash, at("askHash")),
        sql`tool_use_id IS NOT NULL`,
        sql`delivered_at IS NULL`,
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
      deliveredAt: sql`${at("deliveredAt")}`,
      auditSeq: sql`${at("auditSeq")}`,
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
    ...unchainedApprovalQueries(orm),
    ...largeApprovalQueries(orm),
    ...usedApprovalQueries(orm),
    create: (approval: NewApproval): ApprovalHead => {
      insert.run(approval);
      return { ...approval, ...UNDECIDED };
    },
    get: (id: string): ApprovalRow | undefined => byId.get({ id }),
    head: (id: string): ApprovalHead | undefined => headById.get({ id }),
    /** An ask that a built-in rule decides as it is filed. */
    createDecided: (
      approval: NewApproval,
      decision: Pick<ChainedOutcome, "status" | "responseMessage" | "resolvedBy" | "auditSeq">,
    ): ApprovalHead => {
      insertDecided.run({ ...approval, ...decision });
      const { createdAt: at } = approval;
      return { ...approval, ...decision, resolvedAt: at, deliveredAt: at, isBuiltin: true };
    },
    /** The approval that this very ask opened before, unless it is used up, or its child had gone meanwhile. */
    findSameAsk: (ask: { approvalFromEvent: string; toolUseId: string; askHash: string }): ApprovalHead | undefined =>
      sameAsk.get(ask),
    /** The one place where an approval is decided: `undefined` means that somebody was first, or that there is none. */
    settleIfPending: (id: string, outcome: ChainedOutcome): ApprovalHead | undefined =>
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
    const shown = fitting(found.slice(0, limit), MAX_PAGE_BYTES, ({ bytes }) => bytes);
    const rows = shown.flatMap(({ id }) => byId.get({ id }) ?? []);
    return { rows, hasMore: shown.length < found.length };
  }
}

const size = { id: approvals.id, bytes: sql<number>`octet_length(input)` };

const AFTER_EVERY_ID = "~";

/** Bounded by id even on the first page, or all rows of a status would be sorted. */
function onPage({ status, toolName, decidedFrom, withBuiltin, cursor = AFTER_EVERY_ID }: Page): (SQL | undefined)[] {
  const wanted = [
    withBuiltin ? undefined : sql`is_builtin = 0`,
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
