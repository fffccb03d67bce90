import type { Approval, ApprovalFilter, PermitInput } from "../../contract/approvals/approval.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import { mayDecide, type Principal, visibleOwner } from "../access/principals.ts";
import type { Audit } from "../audit/audit.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";
import { toApproval } from "./approval-view.ts";
import type { BuiltinDecision } from "./builtin-rules.ts";
import { createHolds } from "./connections.ts";
import { createDeadline } from "./deadline.ts";
import { createSettlement, unknownApproval } from "./decide.ts";
import { createPendingBounds } from "./pending-bounds.ts";
import { createAsks } from "./request.ts";

export type Approvals = ReturnType<typeof createApprovals>;
export type ApprovalList = { approvals: Approval[]; hasMore: boolean };

type ApprovalsNeed = {
  storage: Storage;
  audit: Audit;
  broadcast: Broadcast;
  now: () => number;
  /** Milliseconds that no setting of the clock moves: whether a child is gone must not depend on that. */
  elapsed: () => number;
  /** How long an ask waits, where its session says nothing else. */
  timeoutSecs: number;
  /** How long an approval may be without a connection that holds it. */
  abandonAfterMs: number;
  /** The net below the broadcast: how often those who wait are checked against the database. */
  rereadEveryMs: number;
  /** Resolves when what a session's child has said so far is on record: an ask comes after it. */
  caughtUp: (sessionId: string) => Promise<void>;
  /** What a built-in rule decides, so that nobody has to. */
  builtinRule: (session: Session, asked: PermitInput) => BuiltinDecision | undefined;
  /** Told when a built-in rule has decided. */
  onBuiltin: () => void;
  onError: (cause: unknown) => void;
};

/** The life of an approval: asked, waited for, decided exactly once. */
export function createApprovals(need: ApprovalsNeed) {
  const { storage, audit, broadcast, now, onError } = need;
  const deadline = createDeadline({ now, onDue: () => void expire().catch(onError) });
  const holds = createHolds({
    now: need.elapsed,
    graceMs: need.abandonAfterMs,
    onDropped: (ids) => void abandonUnheld(ids).catch(onError),
  });
  const bounds = createPendingBounds(storage);
  const settlement = createSettlement({ storage, audit, now, isHeld: holds.isHeld, onSettled: bounds.loosen });
  const asks = createAsks({
    storage,
    audit,
    bounds,
    broadcast,
    now,
    timeoutSecs: need.timeoutSecs,
    hold: holds.hold,
    onFiled: (row) => deadline.at(row.expiresAt),
    caughtUp: need.caughtUp,
    builtinRule: need.builtinRule,
    onBuiltin: need.onBuiltin,
  });
  // Read first: a database that fails here must leave no timer behind.
  const [pendingAtStart, firstDeadline] = [storage.approvals.pendingIds(), storage.approvals.nextDeadline()];
  const net = setInterval(() => void reread().catch(onError), need.rereadEveryMs);
  holds.expectHolder(pendingAtStart);
  deadline.at(firstDeadline);

  async function abandonUnheld(ids: string[]): Promise<void> {
    try {
      await settlement.abandon(ids, "no child was connected to receive the answer", holds.isHeld);
    } catch (cause) {
      holds.expectHolder(ids);
      throw cause;
    }
  }

  async function expire(): Promise<void> {
    while ((await settlement.expireDue()) > 0);
    deadline.at(storage.approvals.nextDeadline());
  }

  /** Finds what a lost wake-up or a jump of the clock has left waiting. */
  async function reread(): Promise<void> {
    const pending = storage.approvals.pendingIds();
    for (const id of broadcast.waitedFor()) if (!pending.has(id)) broadcast.wake(id);
    await expire();
  }

  return {
    ask: asks.ask,
    resume: asks.resume,
    decide: settlement.decide,
    abandon: settlement.abandon,
    expire,

    get(principal: Principal, id: string): Approval {
      const row = storage.approvals.get(id);
      if (!row || !mayDecide(principal, row.owner)) throw unknownApproval(id);
      return toApproval(row);
    },

    /** What the caller may decide, oldest first. */
    pending(principal: Principal, sessionId: string | undefined, limit: number): ApprovalList {
      const { rows, hasMore } = storage.approvals.listPending({ owner: visibleOwner(principal), sessionId }, limit);
      return { approvals: rows.map(toApproval), hasMore };
    },

    /** What the caller may see, newest first, a page at a time. */
    list(
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
    ): { approvals: Approval[]; cursor: string | null } {
      const { sessionId, since, ...page } = filter;
      const decidedFrom = since === undefined ? undefined : since * 1000;
      const scope = { owner: visibleOwner(principal), sessionId };
      const { rows, hasMore } = storage.approvals.list(scope, { ...page, decidedFrom });
      return { approvals: rows.map(toApproval), cursor: hasMore ? (rows.at(-1)?.id ?? null) : null };
    },

    [Symbol.dispose]() {
      clearInterval(net);
      deadline[Symbol.dispose]();
      holds[Symbol.dispose]();
    },
  };
}
