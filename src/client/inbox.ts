import type { Approval, ApprovalStatus } from "../contract/approvals/approval.ts";
import type { ChangeEvent } from "../contract/change.ts";
import { cutApproval } from "../contract/text/cut-approval.ts";
import { approvalFromEvent } from "../review/approval-event.ts";
import { createListeners } from "./listeners.ts";

/** How much of an input the list keeps; opening a request reads all of it. */
export const LISTED_CHARS = 4_000;

/** How a request ended; `lost` if we tried to decide it, but another decision was first. */
export type RequestEnd = {
  status: ApprovalStatus;
  by: string;
  at: number;
  message: string | null;
  lost: boolean;
};
export type InboxItem = {
  approval: Approval;
  outcome?: RequestEnd | undefined;
  /** Its denial is held here: no other decision is possible until it is taken back. */
  isHeld?: boolean;
};
export type Inbox = ReturnType<typeof createInbox>;

type InboxNeed = {
  /** Milliseconds. */
  now: () => number;
  /** How long the list shows a request that others decided; the selected one stays until it is deselected. */
  settledShownMs: number;
};

/** The pending requests, oldest first, with the selected one and the checked ones. */
export function createInbox({ now, settledShownMs }: InboxNeed) {
  const { onChange, changed } = createListeners();
  const items = new Map<string, InboxItem>();
  /** Sorted by id, which is the order of creation. */
  let sorted: InboxItem[] | undefined;
  let arranged: InboxItem[] | undefined;
  let arrange = (all: InboxItem[]): InboxItem[] => all;
  const settledAt = new Map<string, number>();
  const checkedIds = new Set<string>();
  let selectedId: string | undefined;
  let isLoaded = false;
  /** Requests that arrived or ended while the list was read; the list may be older than these. */
  let sinceReading: { asked: Set<string>; settled: Set<string> } | undefined;

  const all = () => {
    sorted ??= [...items.values()].sort((one, other) => (one.approval.id < other.approval.id ? -1 : 1));
    return sorted;
  };
  const list = () => {
    arranged ??= arrange(all());
    return arranged;
  };
  const indexOf = (id: string | undefined) => list().findIndex(({ approval }) => approval.id === id);
  const pending = () => all().filter(isOpen);

  function resort(): void {
    sorted = undefined;
    arranged = undefined;
  }

  function put(item: InboxItem): void {
    items.set(item.approval.id, item);
    resort();
  }

  function drop(id: string): void {
    items.delete(id);
    settledAt.delete(id);
    checkedIds.delete(id);
    resort();
  }

  function markSettled(id: string, outcome: RequestEnd): InboxItem | undefined {
    const item = items.get(id);
    if (!item || (item.outcome && !outcome.lost)) return undefined;
    const settled = { approval: item.approval, outcome };
    put(settled);
    settledAt.set(id, now());
    checkedIds.delete(id);
    return settled;
  }

  function takeOne(event: ChangeEvent): { asked?: InboxItem; settled?: InboxItem | undefined } {
    if (event.type === "approval_requested") {
      sinceReading?.asked.add(event.approval_id);
      if (items.has(event.approval_id)) return {};
      const asked = { approval: cutApproval(approvalFromEvent(event), LISTED_CHARS) };
      put(asked);
      return { asked };
    }
    if (event.type !== "approval_resolved") return {};
    sinceReading?.settled.add(event.approval_id);
    const { status, resolved_by: by, resolved_at: at, response_message: message } = event;
    return { settled: markSettled(event.approval_id, { status, by, at, message, lost: false }) };
  }

  /** Selects the oldest request if none is selected, and drops requests decided by others after their time. */
  function tidy(): void {
    const isOver = (id: string, at: number) => id !== selectedId && now() - at >= settledShownMs;
    for (const [id, at] of [...settledAt]) if (isOver(id, at)) drop(id);
    if (!items.has(selectedId ?? "")) selectedId = (list().find(isOpen) ?? pending()[0])?.approval.id;
    changed();
  }

  function select(id: string | undefined): void {
    selectedId = id;
    tidy();
  }

  return {
    onChange,
    list,
    pending,
    isLoaded: () => isLoaded,
    isPending: (id: string) => isOpen(items.get(id)),
    selected: (): InboxItem | undefined => items.get(selectedId ?? ""),
    position: () => indexOf(selectedId),
    tidy,
    select,

    /** Sets the filter and order of the list; a selected request stays selected only if it is still listed. */
    arrange(how: (all: InboxItem[]) => InboxItem[]): void {
      arrange = how;
      arranged = undefined;
      if (indexOf(selectedId) < 0) selectedId = list().find(isOpen)?.approval.id ?? selectedId;
      tidy();
    },

    /** Moves the selection by a number of rows. */
    move(by: number): void {
      const at = Math.min(list().length - 1, Math.max(0, indexOf(selectedId) + by));
      select(list()[at]?.approval.id);
    },

    /** Selects the next request; after the last one, the first. */
    next(): void {
      select(list()[(indexOf(selectedId) + 1) % Math.max(1, list().length)]?.approval.id);
    },

    checked: () => pending().filter(({ approval }) => checkedIds.has(approval.id)),

    setChecked(ids: string[], isChecked: boolean): void {
      for (const id of ids) {
        if (isChecked) checkedIds.add(id);
        else checkedIds.delete(id);
      }
      changed();
    },

    /** Marks requests whose denial is held, so that they can't be decided otherwise, or unmarks them. */
    setHeld(ids: string[], isHeld: boolean): void {
      for (const id of ids) {
        const item = items.get(id);
        if (!item || item.outcome) continue;
        put({ approval: item.approval, ...(isHeld && { isHeld }) });
        if (isHeld) checkedIds.delete(id);
      }
      tidy();
    },

    /** Moves the selection from a request that is no longer open to the nearest open one, if any. */
    moveOn(): void {
      if (selectedId !== undefined && !isOpen(items.get(selectedId))) select(neighbour(selectedId) ?? selectedId);
    },

    /** Adds a request that was read separately, if it isn't listed. */
    put(item: InboxItem): void {
      const { id } = item.approval;
      if (items.has(id)) return;
      put(item);
      if (item.outcome) settledAt.set(id, now());
      changed();
    },

    /** Call before reading the list. */
    beginReading(): void {
      sinceReading = { asked: new Set(), settled: new Set() };
    },

    /**
     * Replaces the list by the server's pending requests; `ended` is the outcome of the selected one, if it is not
     * among them.
     */
    load(approvals: Approval[], ended?: { approval: Approval; outcome: RequestEnd }): void {
      const { asked, settled } = sinceReading ?? { asked: new Set(), settled: new Set() };
      sinceReading = undefined;
      const listed = new Map(approvals.filter(({ id }) => !settled.has(id)).map((approval) => [approval.id, approval]));
      for (const [id, item] of [...items]) if (!item.outcome && !listed.has(id) && !asked.has(id)) items.delete(id);
      for (const [id, approval] of listed) if (!items.has(id)) items.set(id, { approval });
      if (ended) items.set(ended.approval.id, ended);
      if (ended) settledAt.set(ended.approval.id, now());
      resort();
      isLoaded = true;
      for (const id of [...checkedIds]) if (!items.has(id)) checkedIds.delete(id);
      tidy();
    },

    /** Applies events; returns the new requests, and those that others have decided. */
    take(events: ChangeEvent[]): { asked: InboxItem[]; settled: InboxItem[] } {
      const asked = new Map<string, InboxItem>();
      const settled: InboxItem[] = [];
      for (const event of events) {
        const found = takeOne(event);
        if (found.asked) asked.set(found.asked.approval.id, found.asked);
        if (found.settled) settled.push(found.settled);
        if (event.type === "approval_resolved") asked.delete(event.approval_id);
      }
      tidy();
      return { asked: [...asked.values()], settled };
    },

    /** Records a decision by somebody else. */
    settle(id: string, outcome: RequestEnd): void {
      sinceReading?.settled.add(id);
      markSettled(id, outcome);
      tidy();
    },

    /** Removes a request that we decided, and selects the next one, or the previous one if it was the last. */
    remove(id: string): void {
      sinceReading?.settled.add(id);
      if (!items.has(id)) return;
      if (selectedId === id) selectedId = neighbour(id);
      drop(id);
      tidy();
    },
  };

  function neighbour(id: string): string | undefined {
    const rest = list().filter((item) => isOpen(item) || item.approval.id === id);
    const at = rest.findIndex(({ approval }) => approval.id === id);
    return (rest[at + 1] ?? rest[at - 1])?.approval.id;
  }
}

/** Returns whether the request can be decided here. */
export function isOpen(item: InboxItem | undefined): boolean {
  return item !== undefined && item.outcome === undefined && !item.isHeld;
}
