import { and, asc, desc, eq, gte, lt, lte, type SQL, sql } from "drizzle-orm";
import type {
  ApprovalHead,
  ApprovalOutcome,
  ApprovalPage,
  ApprovalQuery,
  ApprovalRow,
  ApprovalScope,
  BuiltinOutcome,
  NewApproval,
} from "../../approvals.ts";
import type { Orm } from "../database.ts";
import { given } from "../parameters.ts";
import { approvals } from "../tables.ts";
import { head } from "./approval-head.ts";

/** What a page may hold in memory; the first approval always fits. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Spelled as in the partial indexes, which are used only then. */
const isPending = sql`status = 'pending'`;
/** A connection of some server waits for the decision. */
const isHeld = sql`held_by IS NOT NULL AND held_until IS NULL`;
/** The few pending rows are found by their index and sorted; along the ids SQLite would read every decided one too. */
const sortedId = sql`+id`;

/** A request that is filed, and where it is asked. */
export type AskedApproval = Omit<NewApproval, "isInTurn"> & Pick<ApprovalRow, "askedIn">;
/** An outcome with its place in the hash chain; one without stands for those from before there was a chain. */
export type ChainedOutcome = ApprovalOutcome & { auditSeq: number | null };

export type ApprovalQueries = ReturnType<typeof approvalQueries>;

/** Queries on `loopback_approvals`. What writes is called inside a transaction of the writer. */
export function approvalQueries(orm: Orm) {
  const at = sql.placeholder;
  const asked = {
    id: at("id"),
    sessionId: at("sessionId"),
    sessionName: at("sessionName"),
    askedIn: at("askedIn"),
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
    .values({ ...asked, status: "pending", heldBy: at("heldBy") })
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
  const sameRequest = orm
    .select(head)
    .from(approvals)
    .where(
      and(
        eq(approvals.askedIn, at("askedIn")),
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
      status: given("status", approvals.status),
      responseMessage: given("responseMessage", approvals.responseMessage),
      updatedInput: given("updatedInput", approvals.updatedInput),
      interrupt: given("interrupt", approvals.interrupt),
      resolvedAt: given("resolvedAt", approvals.resolvedAt),
      resolvedBy: given("resolvedBy", approvals.resolvedBy),
      deliveredAt: sql`CASE WHEN ${at("status")} <> 'abandoned' AND ${isHeld} THEN ${at("resolvedAt")} END`,
      auditSeq: given("auditSeq", approvals.auditSeq),
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
    create: (approval: AskedApproval, heldBy: string | null): ApprovalHead => {
      insert.run({ ...approval, heldBy });
      return {
        ...approval,
        status: "pending",
        resolvedAt: null,
        resolvedBy: null,
        deliveredAt: null,
        isBuiltin: false,
      };
    },
    get: (id: string): ApprovalRow | undefined => byId.get({ id }),
    head: (id: string): ApprovalHead | undefined => headById.get({ id }),
    /** A request that a built-in rule decides as it is filed. */
    createDecided: (approval: AskedApproval, decision: BuiltinOutcome, auditSeq: number): ApprovalHead => {
      insertDecided.run({ ...approval, ...decision, auditSeq });
      return decidedHead(approval, decision);
    },
    /** The approval that this very request opened before, unless it is used up, or its child had gone meanwhile. */
    findSame: (request: { askedIn: string; toolUseId: string; askHash: string }): ApprovalHead | undefined =>
      sameRequest.get(request),
    /** Returns `undefined` when somebody was first, or there is none. */
    settleIfPending: (id: string, outcome: ChainedOutcome): ApprovalHead | undefined => settle.get({ id, ...outcome }),
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
    list: (scope: ApprovalScope, query: ApprovalQuery): ApprovalPage =>
      load(
        orm
          .select(size)
          .from(approvals)
          .where(and(...within(scope), ...wanted(query)))
          .orderBy(desc(query.status === "pending" ? sortedId : approvals.id))
          .limit(query.limit + 1)
          .all(),
        query.limit,
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

/** How a request reads that was decided as it was filed. */
export function decidedHead(approval: AskedApproval, { status, resolvedBy }: BuiltinOutcome): ApprovalHead {
  const { createdAt: at } = approval;
  return { ...approval, status, resolvedBy, resolvedAt: at, deliveredAt: at, isBuiltin: true };
}

function wanted({ status, toolName, decidedFrom, withBuiltin, cursor }: ApprovalQuery): (SQL | undefined)[] {
  return [
    ofStatus(status),
    withBuiltin ? undefined : sql`is_builtin = 0`,
    toolName === undefined ? undefined : eq(approvals.toolName, toolName),
    decidedFrom === undefined ? undefined : gte(approvals.resolvedAt, decidedFrom),
    cursor === undefined ? undefined : status === "pending" ? lt(sortedId, cursor) : lt(approvals.id, cursor),
  ];
}

function ofStatus(status: ApprovalQuery["status"]): SQL | undefined {
  if (status === "pending") return isPending;
  if (status === "resolved") return sql`status <> 'pending'`;
  return status && eq(approvals.status, status);
}

function within(scope: ApprovalScope): (SQL | undefined)[] {
  return [
    scope.owner === undefined ? undefined : eq(approvals.owner, scope.owner),
    scope.sessionId === undefined ? undefined : eq(approvals.sessionId, scope.sessionId),
  ];
}
