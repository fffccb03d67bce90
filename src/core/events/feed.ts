import type { ToolRequestEvent } from "../../contract/approvals/approval.ts";
import type { UnaskedCall } from "../../contract/approvals/unasked-call.ts";
import type { Change, ChangeEvent } from "../../contract/change.ts";
import { cutObject } from "../../contract/text/cut.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import { toToolRequest } from "../approvals/approval-view.ts";
import { toUnaskedCall } from "../turns/unasked-calls.ts";
import type { Broadcast } from "./broadcast.ts";
import { readChange } from "./change-view.ts";
import { createReaders, type ReaderName } from "./readers.ts";
import { createWait } from "./wait.ts";

const REPLAY_PAGE = 200;
const MAX_QUEUED = 1_000;
const MAX_NOTIFIED_CHARS = 20_000;

export type EventFeed = ReturnType<typeof createEventFeed>;
export type NumberedEvent = { id: number; event: ChangeEvent };

type EventFeedNeed = {
  storage: Pick<Storage, "approvals" | "changes" | "readers" | "sessions" | "turns" | "unaskedCalls">;
  broadcast: Broadcast;
  now: () => number;
  onError: (cause: unknown) => void;
};

/** How principals learn what happens: by waiting for the next thing to decide, or by following everything. */
export function createEventFeed({ storage, broadcast, now, onError }: EventFeedNeed) {
  const readers = createReaders({ storage, now });
  let newest: { approvalId: string; request: Promise<ToolRequestEvent | undefined> } | undefined;

  /** Every listener is told of the same request in turn, so it is read once for all of them. */
  function requestOf(approvalId: string): Promise<ToolRequestEvent | undefined> {
    if (newest?.approvalId !== approvalId) newest = { approvalId, request: readRequest(approvalId) };
    return newest.request;
  }

  async function readRequest(approvalId: string): Promise<ToolRequestEvent | undefined> {
    const row = await storage.approvals.get(approvalId);
    const request = row && toToolRequest(row);
    return request && { ...request, tool_input: cutObject(request.tool_input, MAX_NOTIFIED_CHARS) };
  }

  function visibleTo(principal: Principal): (change: Change) => boolean {
    const owner = visibleOwner(principal);
    return (change) => owner === undefined || change.owner === owner;
  }

  /** Calls back with what is read of each such change, in the order of the changes, until disposed. */
  function onEach<T>(
    kind: Change["kind"],
    principal: Principal,
    read: (subjectId: string) => Promise<T | undefined>,
    listener: (found: T) => void,
  ): Disposable {
    const visible = visibleTo(principal);
    let told = Promise.resolve();
    let isOver = false;
    const listening = broadcast.listen((change) => {
      if (change.kind !== kind || !visible(change)) return;
      const reading = read(change.subjectId);
      const tell = (found: T | undefined) => {
        if (found !== undefined && !isOver) listener(found);
      };
      told = Promise.all([reading, told])
        .then(([found]) => tell(found))
        .catch(onError);
    });
    return {
      [Symbol.dispose]() {
        isOver = true;
        listening[Symbol.dispose]();
      },
    };
  }

  return {
    ...createWait({ storage, broadcast, readers, now }),

    /**
     * The cursor of a caller, for the answer of any tool: a later wait goes on from there, so that nothing which ends
     * meanwhile is lost. `told` are turns whose end that answer tells.
     */
    cursor: (principal: Principal, reader: ReaderName, told: string[] = []): Promise<number> =>
      readers.told(principal, reader, told),

    /** Everything after `after` from the database, then everything that happens: nothing missed, nothing twice, in order. */
    async *follow(principal: Principal, after: number | undefined, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
      using live = broadcast.subscribe(visibleTo(principal), MAX_QUEUED, signal);
      const newest = await storage.changes.newestId();
      // An id that was never given comes from another database: its reader has seen nothing of what follows in this one.
      let cursor = Math.min(after ?? newest, newest);
      for (;;) {
        const page = await storage.changes.listAfter(cursor, visibleOwner(principal), REPLAY_PAGE);
        for (const change of page) {
          cursor = change.id;
          const event = await readChange(storage, change);
          if (event) yield { id: change.id, event };
        }
        if (page.length < REPLAY_PAGE || signal.aborted) break;
      }
      for await (const change of live) {
        if (change.id <= cursor) continue;
        cursor = change.id;
        const event = await readChange(storage, change);
        if (event) yield { id: change.id, event };
      }
    },

    /** Calls back with each new request that the principal may decide, until disposed; long inputs are cut. */
    onRequest: (principal: Principal, listener: (request: ToolRequestEvent) => void): Disposable =>
      onEach("approval_requested", principal, requestOf, listener),

    /** Calls back with each call that ran although its session lets none run unasked, until disposed. */
    onUnasked: (principal: Principal, listener: (call: UnaskedCall) => void): Disposable =>
      onEach("unasked_call", principal, readUnasked, listener),
  };

  async function readUnasked(id: string): Promise<UnaskedCall | undefined> {
    const row = await storage.unaskedCalls.get(id);
    if (!row) return undefined;
    const call = toUnaskedCall(row);
    return { ...call, tool_input: cutObject(call.tool_input, MAX_NOTIFIED_CHARS) };
  }
}
