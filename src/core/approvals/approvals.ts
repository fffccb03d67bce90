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
import { createConnections } from "./connections.ts";
import { createDeadline } from "./deadline.ts";
import { createDecide, unknownApproval } from "./decide.ts";
import { createDecidedList, type DecidedFilter } from "./decided.ts";
import { createRequests } from "./request.ts";

export type Approvals = Awaited<ReturnType<typeof openApprovals>>;
export type ApprovalList = { approvals: Approval[]; hasMore: boolean };
/** What built-in rules decided is left out unless asked for. */
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
  /** Milliseconds that no setting of the clock moves: whether a child is gone must not depend on that. */
  elapsed: () => number;
  /** How long a request waits, where its session says nothing else. */
  timeoutSecs: number;
  /** How long an approval may be without a connection that holds it. */
  abandonAfterMs: number;
  /** Resolves when what a session's child has said so far is on record: a request comes after it. */
  outputStored: (sessionId: string) => Promise<void>;
  /** What the rules decide, so that nobody has to. */
  judge: (session: Session, asked: PermitInput) => Promise<Judgement>;
  /** The rules were others than those that a call was judged by. */
  onStale: () => void;
  /** What a decision is held to, and what is remembered of it. */
  decisionRules: DecisionRules;
  /** Told when a built-in rule has decided. */
  onBuiltin: () => void;
  onError: (cause: unknown) => void;
};

/** The life of an approval: asked, waited for, decided exactly once. */
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
  /** Those that could not be released yet, since the database took no writes. */
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
  // Read first, all of it: a database that is damaged here must end the start, and leave no timer behind.
  const firstDeadline = await storage.approvals.nextDeadline();
  await storage.approvals.pendingIds();
  await takeOver();
  deadline.at(firstDeadline);

  /** The children of servers that are gone come back to this one, or to nobody. */
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
      // All at once: a child that comes back meanwhile holds its approval behind its release, never before it.
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
    ...createDecide({ storage, rules: need.decisionRules, now, onError }),
    /** The child that asked is gone, so there is nobody left to tell. */
    abandon: (ids: string[], reason: string): Promise<void> => storage.approvals.abandonIfPending(ids, reason, now()),
    expire,

    /** Finds what servers that are gone, or a jump of the clock, have left pending. */
    async reread(): Promise<void> {
      await expire();
      await takeOver();
    },

    /** Another server may have taken over what connections here still hold. */
    async holdAgain(): Promise<void> {
      await Promise.all(connections.openIds().map((id) => storage.approvals.holdAgain(id, undefined)));
    },

    async get(principal: Principal, id: string): Promise<Approval> {
      const row = await storage.approvals.get(id);
      if (!row || !mayDecide(principal, row.owner)) throw unknownApproval(id);
      return toApproval(row);
    },

    /** How it stands, without its input, which may be large. */
    async outcome(
      principal: Principal,
      id: string,
    ): Promise<Pick<Approval, "id" | "status" | "resolved_by" | "resolved_at">> {
      const row = await storage.approvals.head(id);
      if (!row || !mayDecide(principal, row.owner)) throw unknownApproval(id);
      const { status, resolvedAt, resolvedBy } = row;
      return { id, status, resolved_by: resolvedBy, resolved_at: resolvedAt === null ? null : seconds(resolvedAt) };
    },

    /** What the caller may decide, oldest first. */
    async pending(principal: Principal, sessionId: string | undefined, limit: number): Promise<ApprovalList> {
      const scope = { owner: visibleOwner(principal), sessionId };
      const { rows, hasMore } = await storage.approvals.listPending(scope, limit);
      return { approvals: rows.map(toApproval), hasMore };
    },

    /** What the caller may see, a page at a time: the newest first, or, of what is decided, the last decision first. */
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
