import { and, asc, desc, eq, gte, lt, lte, ne, notInArray, type SQL, sql } from "drizzle-orm";
import type { JsonObject } from "../../../contract/values.ts";
import type {
  ApprovalHead,
  ApprovalOutcome,
  ApprovalPage,
  ApprovalQuery,
  ApprovalRow,
  ApprovalScope,
  NewApproval,
  RuleOutcome,
} from "../../approvals.ts";
import { BRAKE } from "../../record/approval-record.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { approvals } from "../tables.ts";
import { head } from "./approval-head.ts";
import { recordQueries, size } from "./approval-record-pages.ts";

/** The limit on a page's inputs in memory; the first approval always fits. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** A change stays in memory until slow readers have it, so long inputs are left out; whoever needs one reads it. */
const MAX_TOLD_BYTES = 8_000;

/** SQLite uses the partial indexes only if the condition has their exact wording. */
const isPending = sql`status = 'pending'`;
/** A connection to some server waits for the decision. */
const isHeld = sql`held_by IS NOT NULL AND held_until IS NULL`;
/**
 * The plus sign makes SQLite find the few pending rows by their own index and sort them; along the primary key it would
 * read every decided row too.
 */
const sortedId = sql`+id`;

/** The input that an allow runs; null if it is long, or if the request was not allowed. */
const allowedInput =
  sql<JsonObject | null>`iif(status = 'allowed' AND octet_length(input) <= ${sql.raw(String(MAX_TOLD_BYTES))}, input, NULL)`.mapWith(
    approvals.input,
  );

/** A request to file, with the turn and event at which it was made. */
export type AskedApproval = Omit<NewApproval, "isInTurn"> & Pick<ApprovalRow, "askedIn" | "askedSeq">;
/** An outcome with its position in the hash chain; null for outcomes from before the chain existed. */
export type ChainedOutcome = ApprovalOutcome & { auditSeq: number | null };

/** A decision that was just made. */
export type JustSettled = ApprovalHead & { input: JsonObject | null };

/**
 * Conditions of a decision: the owner that the request must belong to, and the time by which its deadline must not have
 * passed.
 */
export type SettleGuard = { owner?: string | undefined; notDueAt?: number };

export type ApprovalQueries = ReturnType<typeof approvalQueries>;

/** Queries on `loopback_approvals`. Those that write run inside a transaction of the writer. */
export function approvalQueries(orm: Orm) {
  const at = sql.placeholder;
  const record = recordQueries(orm);
  const asked = {
    id: at("id"),
    sessionId: at("sessionId"),
    sessionName: at("sessionName"),
    askedIn: at("askedIn"),
    askedSeq: at("askedSeq"),
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
      interrupt: at("interrupt"),
      isBuiltin: at("isBuiltin"),
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
  const edit = orm
    .select({ updatedInput: approvals.updatedInput, inputCutAt: approvals.inputCutAt })
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
  /** Checked by the deciding statement itself, so that no read is needed before it. */
  const isDecider = sql`(${at("ofOwner")} IS NULL OR owner = ${at("ofOwner")}) AND (${at("before")} IS NULL OR expires_at > ${at("before")})`;
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
    .where(and(eq(approvals.id, at("id")), isPending, isDecider))
    .returning({ ...head, input: allowedInput })
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
  const denied = orm
    .select({ id: approvals.id, message: approvals.responseMessage })
    .from(approvals)
    .where(
      and(
        eq(approvals.askedIn, at("askedIn")),
        eq(approvals.askHash, at("askHash")),
        sql`status = 'denied'`,
        ne(approvals.resolvedBy, BRAKE),
      ),
    )
    .orderBy(desc(approvals.id))
    .limit(at("limit"))
    .prepare();
  const allowedSince = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(
      and(
        gte(approvals.id, at("id")),
        eq(approvals.askedIn, at("askedIn")),
        eq(approvals.askHash, at("askHash")),
        sql`status = 'allowed'`,
      ),
    )
    .limit(1)
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
    /** Inserts a request that a rule decides as it is filed. */
    createDecided: (approval: AskedApproval, decision: RuleOutcome, auditSeq: number): ApprovalHead => {
      insertDecided.run({ ...approval, ...decision, auditSeq });
      return decidedHead(approval, decision);
    },
    /** Returns the approval that this very request already opened, unless it was delivered or abandoned. */
    findSame: (request: { askedIn: string; toolUseId: string; askHash: string }): ApprovalHead | undefined =>
      sameRequest.get(request),
    /**
     * Returns the first of the last `count` denials of this call; `undefined` if there are fewer, or if it was allowed
     * in between. Automatic denials of repeated calls don't count.
     */
    firstOfDenialsInARow: (call: { askedIn: string; askHash: string }, count: number) => {
      const found = denied.all({ ...call, limit: count });
      const first = found.at(-1);
      if (!first || found.length < count || allowedSince.get({ ...call, id: first.id })) return undefined;
      return first;
    },
    /** Returns `undefined` if it was already settled or doesn't exist, or if the guard doesn't hold. */
    settleIfPending: (id: string, outcome: ChainedOutcome, guard: SettleGuard = {}): JustSettled | undefined =>
      settle.get({ id, ...outcome, ofOwner: guard.owner ?? null, before: guard.notDueAt ?? null }),
    /** Returns pending approvals past their deadline, the longest overdue first. */
    dueIds: (now: number, limit: number): string[] => due.all({ now, limit }).map((row) => row.id),
    edit: (id: string): Pick<ApprovalRow, "updatedInput" | "inputCutAt"> | undefined => edit.get({ id }),
    nextDeadline: (): number | undefined => deadline.get()?.at ?? undefined,
    pendingIds: (): Set<string> => new Set(pendingIds.all().map((row) => row.id)),
    pendingIdsOf: (sessionId: string): string[] => pendingOfSession.all({ sessionId }).map((row) => row.id),
    countPending: (sessionId: string): number => countPending.get({ sessionId })?.count ?? 0,
    /** Returns the oldest first, without those in `skip`. */
    listPending: (scope: ApprovalScope, limit: number, skip: string[] = []): ApprovalPage =>
      load(
        orm
          .select(size)
          .from(approvals)
          .where(and(isPending, ...within(scope), skip.length === 0 ? undefined : notInArray(approvals.id, skip)))
          .orderBy(scope.sessionId === undefined ? sortedId : asc(approvals.id))
          .limit(limit + 1)
          .all(),
        limit,
      ),
    /** Returns the newest first, beginning after `cursor`. */
    list: (scope: ApprovalScope, query: ApprovalQuery): ApprovalPage =>
      load(query.status === "pending" ? newestPending(scope, query) : record.page(scope, query), query.limit),
  };

  function newestPending(scope: ApprovalScope, { toolName, withBuiltin, cursor, limit }: ApprovalQuery) {
    return orm
      .select(size)
      .from(approvals)
      .where(
        and(
          isPending,
          ...within(scope),
          withBuiltin ? undefined : sql`+is_builtin = 0`,
          toolName === undefined ? undefined : sql`+${approvals.toolName} = ${toolName}`,
          cursor === undefined ? undefined : lt(sortedId, cursor),
        ),
      )
      .orderBy(desc(sortedId))
      .limit(limit + 1)
      .all();
  }

  /** Loads the rows, up to the limit and as far as their inputs fit in a page. */
  function load(found: { id: string; bytes: number }[], limit: number): ApprovalPage {
    const shown = fittingRows(found.slice(0, limit), MAX_PAGE_BYTES);
    const rows = shown.flatMap(({ id }) => byId.get({ id }) ?? []);
    return { rows, hasMore: shown.length < found.length };
  }
}

/** Returns as many rows from the front as fit in memory together; the first one always fits. */
export function fittingRows<T extends { bytes: number }>(found: T[], maxBytes: number): T[] {
  let bytes = 0;
  return found.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= maxBytes;
  });
}

/** Builds the head of a request that was decided as it was filed. */
function decidedHead(approval: AskedApproval, decision: RuleOutcome): ApprovalHead {
  const { createdAt: at } = approval;
  const { status, resolvedBy, isBuiltin } = decision;
  return { ...approval, status, resolvedBy, resolvedAt: at, deliveredAt: at, isBuiltin };
}

function within(scope: ApprovalScope): (SQL | undefined)[] {
  return [
    scope.owner === undefined ? undefined : eq(approvals.owner, scope.owner),
    scope.sessionId === undefined ? undefined : eq(approvals.sessionId, scope.sessionId),
  ];
}
