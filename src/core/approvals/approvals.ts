import type { Approval, ApprovalFilter, PermitInput } from "../../contract/approvals/approval.ts";
import type { LostConnection } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import { mayDecide, type Principal, visibleOwner } from "../access/principals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";
import { toApproval } from "./approval-view.ts";
import type { BuiltinDecision } from "./builtin-rules.ts";
import { createConnections } from "./connections.ts";
import { createDeadline } from "./deadline.ts";
import { createDecide, unknownApproval } from "./decide.ts";
import { createRequests } from "./request.ts";

export type Approvals = Awaited<ReturnType<typeof openApprovals>>;
export type ApprovalList = { approvals: Approval[]; hasMore: boolean };

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
  /** The net below the broadcast: how often those who wait are checked against the database. */
  rereadEveryMs: number;
  /** Resolves when what a session's child has said so far is on record: a request comes after it. */
  outputStored: (sessionId: string) => Promise<void>;
  /** What a built-in rule decides, so that nobody has to. */
  builtinRule: (session: Session, asked: PermitInput) => BuiltinDecision | undefined;
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
    builtinRule: need.builtinRule,
    onBuiltin: need.onBuiltin,
  });
  // First: a database that fails here must leave no timer behind.
  const pendingAtStart = await storage.approvals.releaseHeldByOthers(now() + abandonAfterMs);
  const firstDeadline = await storage.approvals.nextDeadline();
  const net = setInterval(() => void reread().catch(onError), need.rereadEveryMs);
  connections.expectBack(pendingAtStart.map((id) => ({ id, asker: null })));
  deadline.at(firstDeadline);

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

  /** Finds what a lost wake-up or a jump of the clock has left waiting. */
  async function reread(): Promise<void> {
    // Those that wait are listed first: one that begins to wait after the read would look as if it were decided.
    const waitedFor = [...broadcast.waitedFor()];
    const pending = await storage.approvals.pendingIds();
    for (const id of waitedFor) if (!pending.has(id)) broadcast.wake(id);
    await expire();
  }

  return {
    request: requests.request,
    resume: requests.resume,
    decide: createDecide({ storage, now }),
    /** The child that asked is gone, so there is nobody left to tell. */
    abandon: (ids: string[], reason: string): Promise<void> => storage.approvals.abandonIfPending(ids, reason, now()),
    expire,

    async get(principal: Principal, id: string): Promise<Approval> {
      const row = await storage.approvals.get(id);
      if (!row || !mayDecide(principal, row.owner)) throw unknownApproval(id);
      return toApproval(row);
    },

    /** What the caller may decide, oldest first. */
    async pending(principal: Principal, sessionId: string | undefined, limit: number): Promise<ApprovalList> {
      const scope = { owner: visibleOwner(principal), sessionId };
      const { rows, hasMore } = await storage.approvals.listPending(scope, limit);
      return { approvals: rows.map(toApproval), hasMore };
    },

    /** What the caller may see, newest first, a page at a time. */
    async list(
      principal: Principal,
      filter: {
        status?: ApprovalFilter | undefined;
        sessionId?: string | undefined;
        toolName?: string | undefined;
        /** In seconds. */
        since?: number | undefined;
        /** What built-in rules decided is left out unless asked for. */
        withBuiltin?: boolean | undefined;
        cursor?: string | undefined;
        limit: number;
      },
    ): Promise<{ approvals: Approval[]; cursor: string | null }> {
      const { sessionId, since, ...page } = filter;
      const decidedFrom = since === undefined ? undefined : since * 1000;
      const scope = { owner: visibleOwner(principal), sessionId };
      const { rows, hasMore } = await storage.approvals.list(scope, { ...page, decidedFrom });
      return { approvals: rows.map(toApproval), cursor: hasMore ? (rows.at(-1)?.id ?? null) : null };
    },

    [Symbol.dispose]() {
      clearInterval(net);
      deadline[Symbol.dispose]();
      connections[Symbol.dispose]();
    },
  };
}
