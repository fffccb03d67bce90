import type { ToolRequestEvent } from "../../contract/approvals/approval.ts";
import type { UnaskedCall } from "../../contract/approvals/unasked-call.ts";
import type { Change, ChangeEvent } from "../../contract/change.ts";
import { cutObject } from "../../contract/text/cut-object.ts";
import type { Reader } from "../../storage/readers.ts";
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

/** How principals learn of events: by waiting for the next thing to do, or by following all changes. */
export function createEventFeed({ storage, broadcast, now, onError }: EventFeedNeed) {
  const readers = createReaders({ storage, now });
  let newest: { approvalId: string; request: Promise<ToolRequestEvent | undefined> } | undefined;

  /** Each request is read once for all listeners, which are called one after the other. */
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

  /** Reads the subject of each change of this kind and calls `listener` in the order of the changes, until disposed. */
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

    /** The reader that a caller is, by the name that it gives itself or else by its MCP client session. */
    readerOf: (principal: Principal, reader: ReaderName): Reader => readers.of(principal, reader),

    /**
     * The caller's cursor, for the answer of any tool: a later wait continues from it, so no end of a turn in between
     * is lost. `told`: turns whose end that answer contains.
     */
    cursor: (principal: Principal, reader: ReaderName, told: string[] = []): Promise<number> =>
      readers.told(principal, reader, told),

    /** All events after `after` from the database, then live events: in order, none missed or repeated. */
    async *follow(principal: Principal, after: number | undefined, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
      using live = broadcast.subscribe(visibleTo(principal), MAX_QUEUED, signal);
      const newest = await storage.changes.newestId();
      // A higher id than the newest comes from another database; its reader has seen nothing of this one.
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

    /** Calls back with each new request that the principal may decide, until disposed. Long inputs are cut. */
    onRequest: (principal: Principal, listener: (request: ToolRequestEvent) => void): Disposable =>
      onEach("approval_requested", principal, requestOf, listener),

    /** Calls back with each call that ran unasked in a session that forbids it, until disposed. */
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
