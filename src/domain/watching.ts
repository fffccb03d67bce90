import type { Approval } from "../schema/approval.ts";
import type { Change, ChangeEvent } from "../schema/change.ts";
import type { Storage } from "../storage/database.ts";
import { toApproval, toChangeEvent, toToolRequest } from "./approval-view.ts";
import type { Broadcast } from "./broadcast.ts";
import { type Principal, visibleOwner } from "./principals.ts";

const REPLAY_PAGE = 200;
const MAX_QUEUED = 1_000;

export type Watching = ReturnType<typeof createWatching>;
export type NumberedEvent = { id: number; event: ChangeEvent };

/** How principals learn what happens: by waiting for the next thing to decide, or by following everything. */
export function createWatching({ storage, broadcast }: { storage: Storage; broadcast: Broadcast }) {
  function eventOf(change: Change): ChangeEvent | undefined {
    const row = storage.approvals.get(change.approvalId);
    return row && toChangeEvent(change.kind, row);
  }

  function visibleTo(principal: Principal): (change: Change) => boolean {
    const owner = visibleOwner(principal);
    return (change) => owner === undefined || change.owner === owner;
  }

  return {
    /** Returns as soon as anything is pending; with none, when the time is up or the caller has gone. */
    async wait(
      principal: Principal,
      options: { sessionId?: string | undefined; timeoutMs: number; limit: number; signal: AbortSignal },
    ): Promise<{ approvals: Approval[]; cursor: number }> {
      const scope = { owner: visibleOwner(principal), sessionId: options.sessionId };
      const { promise: over, resolve: finish } = Promise.withResolvers<void>();
      using _ = broadcast.listen((change) => {
        const concerns = scope.sessionId === undefined || change.sessionId === scope.sessionId;
        if (change.kind === "approval_requested" && concerns && visibleTo(principal)(change)) finish();
      });
      const timer = setTimeout(finish, options.timeoutMs);
      options.signal.addEventListener("abort", () => finish());
      const read = () => {
        const cursor = storage.changes.newestId();
        return { approvals: storage.approvals.listPending(scope, options.limit).map(toApproval), cursor };
      };
      const before = read();
      if (before.approvals.length === 0 && !options.signal.aborted) await over;
      clearTimeout(timer);
      return before.approvals.length > 0 ? before : read();
    },

    /** Everything after `after` from the database, then everything that happens: nothing missed, nothing twice, in order. */
    async *follow(principal: Principal, after: number | undefined, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
      using live = broadcast.subscribe(visibleTo(principal), MAX_QUEUED, signal);
      let cursor = after ?? storage.changes.newestId();
      for (;;) {
        const page = storage.changes.listAfter(cursor, visibleOwner(principal), REPLAY_PAGE);
        for (const change of page) {
          cursor = change.id;
          const event = eventOf(change);
          if (event) yield { id: change.id, event };
        }
        if (page.length < REPLAY_PAGE || signal.aborted) break;
      }
      for await (const change of live) {
        if (change.id <= cursor) continue;
        cursor = change.id;
        const event = eventOf(change);
        if (event) yield { id: change.id, event };
      }
    },

    /** Calls back with each new ask that the principal may decide, until disposed. */
    onAsk(principal: Principal, listener: (request: ReturnType<typeof toToolRequest>) => void): Disposable {
      const visible = visibleTo(principal);
      return broadcast.listen((change) => {
        if (change.kind !== "approval_requested" || !visible(change)) return;
        const row = storage.approvals.get(change.approvalId);
        if (row) listener(toToolRequest(row));
      });
    },
  };
}
