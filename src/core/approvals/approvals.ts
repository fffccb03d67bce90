import type { Approval, ApprovalFilter, PermitInput } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { LostConnection } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import { mayDecide, type Principal, visibleOwner } from "../access/principals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { DecisionRules } from "../rulebook/decision-rules.ts";
import type { Judgement } from "../rulebook/judge.ts";
import type { Session } from "../sessions/sessions.ts";
import { toApproval } from "./approval-view.ts";
import type { ApprovalViews } from "./approval-views.ts";
import { createConnections } from "./connections.ts";
import { createDeadline } from "./deadline.ts";
import { createDecide, unknownApproval } from "./decide.ts";
import { createDecidedList, type DecidedFilter } from "./decided.ts";
import { createRequests } from "./request.ts";

export type Approvals = Awaited<ReturnType<typeof openApprovals>>;
export type ApprovalList = { approvals: Approval[]; hasMore: boolean };
/** Decisions of built-in rules are left out unless `withBuiltin` is set. */
type ListFilter = Omit<DecidedFilter, "status"> & {
  status?: ApprovalFilter | undefined;
  sessionId?: string | undefined;
};
type ListedApprovals = { approvals: Approval[]; cursor: string | null; searchedBackTo?: number | undefined };

const BATCH = 500;

type ApprovalsNeed = {
  storage: Pick<Storage, "approvals" | "newId">;
  broadcast: Broadcast;
  now: () => number;
  /** A monotonic clock in milliseconds: a change of the system time must not make a child look gone. */
  elapsed: () => number;
  /** How long a request waits if its session sets no timeout of its own. */
  timeoutSecs: number;
  /** How long a pending approval may have no open connection before it is abandoned. */
  abandonAfterMs: number;
  /**
   * Resolves when all output that the session's child has written so far is stored, so that a request follows it in the
   * record.
   */
  outputStored: (sessionId: string) => Promise<void>;
  /** Matches a call against the rules. */
  judge: (session: Session, asked: PermitInput) => Promise<Judgement>;
  /** Called when the rules changed while a call was being judged. */
  onStale: () => void;
  /** The caller's limits, and the rules that "remember" creates. */
  decisionRules: DecisionRules;
  views: Pick<ApprovalViews, "dangersOfEdit">;
  /** Called when a built-in rule decides a request. */
  onBuiltin: () => void;
  onError: (cause: unknown) => void;
};

/** The life of an approval: a child requests it, waits, and it is decided exactly once. */
export async function openApprovals(need: ApprovalsNeed) {
  const { storage, broadcast, now, abandonAfterMs, onError } = need;
  const deadline = createDeadline({ now, onDue: () => void expire().catch(onError) });
  const connections = createConnections({
    now: need.elapsed,
    graceMs: abandonAfterMs,
    onLost: (lost) => void release(lost).catch(onError),
    onDropped: (lost) => void abandonUnheld(lost).catch(onError),
  });
  const listDecided = createDecidedList(storage);
  /** Ids of approvals whose release failed because the database accepted no writes; tried again later. */
  const unreleased = new Set<string>();
  const requests = createRequests({
    storage,
    broadcast,
    now,
    timeoutSecs: need.timeoutSecs,
    connect: connections.connect,
    onFiled: (row) => deadline.at(row.expiresAt),
    outputStored: need.outputStored,
    judge: need.judge,
    onStale: need.onStale,
    onBuiltin: need.onBuiltin,
  });
  // Read everything before starting timers: if the database is damaged, opening fails and must not leave a timer
  // running.
  const firstDeadline = await storage.approvals.nextDeadline();
  await storage.approvals.pendingIds();
  await takeOver();
  deadline.at(firstDeadline);

  /** Takes over the pending approvals of servers that are gone: their children can only reconnect to this server. */
  async function takeOver(): Promise<void> {
    const ids = await storage.approvals.takeOver(abandonAfterMs);
    connections.expectBack(ids.map((id) => ({ id, asker: null })));
  }

  async function release(lost: LostConnection): Promise<void> {
    unreleased.add(lost.id);
    await storage.approvals.releaseIfPending(lost, now() + abandonAfterMs);
    unreleased.delete(lost.id);
  }

  async function abandonUnheld(lost: LostConnection[]): Promise<void> {
    try {
      // Start all releases now: if a child reconnects meanwhile, its hold is queued after the release and wins.
      await Promise.all(lost.filter(({ id }) => unreleased.has(id)).map(release));
      const ids = lost.map(({ id }) => id);
      await storage.approvals.abandonIfUnheld(ids, "no child was connected to receive the answer", now());
    } catch (cause) {
      connections.expectBack(lost);
      throw cause;
    }
  }

  async function expire(): Promise<void> {
    while ((await storage.approvals.expireDue(now(), BATCH)) > 0);
    deadline.at(await storage.approvals.nextDeadline());
  }

  return {
    request: requests.request,
    resume: requests.resume,
    ...createDecide({ storage, rules: need.decisionRules, views: need.views, now, onError }),
    /** For requests whose child is gone: nobody waits for the decision. */
    abandon: (ids: string[], reason: string): Promise<void> => storage.approvals.abandonIfPending(ids, reason, now()),
    expire,

    /** Settles requests that are overdue after a jump of the clock, and takes over those of servers that are gone. */
    async reread(): Promise<void> {
      await expire();
      await takeOver();
    },

    /** Holds every approval with an open connection here again, since another server may have taken it over. */
    async holdAgain(): Promise<void> {
      await Promise.all(connections.openIds().map((id) => storage.approvals.holdAgain(id, undefined)));
    },

    async get(principal: Principal, id: string): Promise<Approval> {
      const row = await storage.approvals.get(id);
      if (!row || !mayDecide(principal, row.owner)) throw unknownApproval(id);
      return toApproval(row);
    },

    /** Status and decision, without reading the input, which may be large. */
    async outcome(
      principal: Principal,
      id: string,
    ): Promise<Pick<Approval, "id" | "status" | "resolved_by" | "resolved_at">> {
      const row = await storage.approvals.head(id);
      if (!row || !mayDecide(principal, row.owner)) throw unknownApproval(id);
      const { status, resolvedAt, resolvedBy } = row;
      return { id, status, resolved_by: resolvedBy, resolved_at: resolvedAt === null ? null : seconds(resolvedAt) };
    },

    /** The pending approvals that the caller may decide, oldest first. */
    async pending(principal: Principal, sessionId: string | undefined, limit: number): Promise<ApprovalList> {
      const scope = { owner: visibleOwner(principal), sessionId };
      const { rows, hasMore } = await storage.approvals.listPending(scope, limit);
      return { approvals: rows.map(toApproval), hasMore };
    },

    /** One page of the approvals that the caller may see: newest first, or for decided ones, last decision first. */
    async list(principal: Principal, filter: ListFilter): Promise<ListedApprovals> {
      const { sessionId, status, since, until, search, ...page } = filter;
      const scope = { owner: visibleOwner(principal), sessionId };
      const isOfDecisions = since !== undefined || until !== undefined || search !== undefined;
      if (status === "pending" && isOfDecisions)
        throw new AppError("invalid_arguments", "since, until and search find decisions: none is pending.");
      if (status === "pending" || (status === undefined && !isOfDecisions)) {
        const { rows, hasMore } = await storage.approvals.list(scope, { ...page, status });
        return { approvals: rows.map(toApproval), cursor: hasMore ? (rows.at(-1)?.id ?? null) : null };
      }
      const wanted = { ...page, status: status ?? ("resolved" as const), since, until, search };
      const { rows, cursor, searchedBackTo } = await listDecided(scope, wanted);
      return { approvals: rows.map(toApproval), cursor, searchedBackTo };
    },

    [Symbol.dispose]() {
      deadline[Symbol.dispose]();
      connections[Symbol.dispose]();
    },
  };
}
