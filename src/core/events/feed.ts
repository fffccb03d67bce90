import type { ToolRequestEvent } from "../../contract/approvals/approval.ts";
import type { UnaskedCall } from "../../contract/approvals/unasked-call.ts";
import type { Change, ChangeEvent } from "../../contract/change.ts";
import { cutObject } from "../../contract/cut.ts";
import type { Finished } from "../../contract/tools/approval-answers.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import { toApproval, toToolRequest } from "../approvals/approval-view.ts";
import type { ApprovalList } from "../approvals/approvals.ts";
import { toUnaskedCall } from "../turns/unasked-calls.ts";
import type { Broadcast } from "./broadcast.ts";
import { readChange } from "./change-view.ts";

const REPLAY_PAGE = 200;
const MAX_QUEUED = 1_000;
const MAX_FINISHED = 50;
const MAX_NOTIFIED_CHARS = 20_000;

export type Watching = ReturnType<typeof createWatching>;
export type NumberedEvent = { id: number; event: ChangeEvent };

/** How principals learn what happens: by waiting for the next thing to decide, or by following everything. */
export function createWatching({ storage, broadcast }: { storage: Storage; broadcast: Broadcast }) {
  let newest: ToolRequestEvent | undefined;

  function finishedIn(change: Change): Finished[] {
    const turn = storage.turns.get(change.subjectId);
    const session = storage.sessions.get(change.sessionId);
    return turn && session ? [{ session_id: session.id, name: session.name, status: turn.status }] : [];
  }

  /** Every listener is told of the same ask in turn, so it is read once for all of them. */
  function requestOf(approvalId: string): ToolRequestEvent | undefined {
    if (newest?.approval_id === approvalId) return newest;
    const row = storage.approvals.get(approvalId);
    const request = row && toToolRequest(row);
    newest = request && { ...request, tool_input: cutObject(request.tool_input, MAX_NOTIFIED_CHARS) };
    return newest;
  }

  function visibleTo(principal: Principal): (change: Change) => boolean {
    const owner = visibleOwner(principal);
    return (change) => owner === undefined || change.owner === owner;
  }

  return {
    /** Returns as soon as anything is pending or a turn has ended after `since`; with neither, when the time is up or the caller has gone. */
    async wait(
      principal: Principal,
      options: {
        sessionId?: string | undefined;
        since?: number | undefined;
        timeoutMs: number;
        limit: number;
        signal: AbortSignal;
      },
    ): Promise<ApprovalList & { finished: Finished[]; cursor: number }> {
      const scope = { owner: visibleOwner(principal), sessionId: options.sessionId };
      const visible = visibleTo(principal);
      let isOver = options.signal.aborted;
      let ring = () => {};
      const finish = () => {
        isOver = true;
        ring();
      };
      using cleanup = new DisposableStack();
      cleanup.use(
        broadcast.listen((change) => {
          const concerns = scope.sessionId === undefined || change.sessionId === scope.sessionId;
          const isAwaited = change.kind === "approval_requested" || change.kind === "turn_ended";
          if (isAwaited && concerns && visible(change)) ring();
        }),
      );
      cleanup.adopt(setTimeout(finish, options.timeoutMs), clearTimeout);
      options.signal.addEventListener("abort", finish);
      cleanup.defer(() => options.signal.removeEventListener("abort", finish));
      const since = options.since ?? storage.changes.newestId();
      for (;;) {
        const newestId = storage.changes.newestId();
        const { rows, hasMore } = storage.approvals.listPending(scope, options.limit);
        const ended = storage.changes.turnsEndedAfter(since, scope, MAX_FINISHED);
        // What was asked may be decided by now: then there is still nothing to return for.
        if (rows.length > 0 || ended.length > 0 || isOver) {
          // With more than fit, the next wait goes on behind those that were told.
          const cursor = ended.length === MAX_FINISHED ? (ended.at(-1)?.id ?? newestId) : newestId;
          return { approvals: rows.map(toApproval), hasMore, finished: ended.flatMap(finishedIn), cursor };
        }
        await new Promise<void>((resolve) => {
          ring = resolve;
        });
      }
    },

    /** Everything after `after` from the database, then everything that happens: nothing missed, nothing twice, in order. */
    async *follow(principal: Principal, after: number | undefined, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
      using live = broadcast.subscribe(visibleTo(principal), MAX_QUEUED, signal);
      const newest = storage.changes.newestId();
      // An id that was never given comes from another database: whoever sends it has seen nothing of this one's future.
      let cursor = Math.min(after ?? newest, newest);
      for (;;) {
        const page = storage.changes.listAfter(cursor, visibleOwner(principal), REPLAY_PAGE);
        for (const change of page) {
          cursor = change.id;
          const event = readChange(storage, change);
          if (event) yield { id: change.id, event };
        }
        if (page.length < REPLAY_PAGE || signal.aborted) break;
      }
      for await (const change of live) {
        if (change.id <= cursor) continue;
        cursor = change.id;
        const event = readChange(storage, change);
        if (event) yield { id: change.id, event };
      }
    },

    /** Calls back with each new ask that the principal may decide, until disposed; long inputs are cut. */
    onAsk(principal: Principal, listener: (request: ToolRequestEvent) => void): Disposable {
      const visible = visibleTo(principal);
      return broadcast.listen((change) => {
        if (change.kind !== "approval_requested" || !visible(change)) return;
        const request = requestOf(change.subjectId);
        if (request) listener(request);
      });
    },

    /** Calls back with each call that ran although its session lets none run unasked, until disposed. */
    onUnasked(principal: Principal, listener: (call: UnaskedCall) => void): Disposable {
      const visible = visibleTo(principal);
      return broadcast.listen((change) => {
        if (change.kind !== "unasked_call" || !visible(change)) return;
        const row = storage.unaskedCalls.get(change.subjectId);
        if (!row) return;
        const call = toUnaskedCall(row);
        listener({ ...call, tool_input: cutObject(call.tool_input, MAX_NOTIFIED_CHARS) });
      });
    },
  };
}
