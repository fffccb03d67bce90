import type { Approval, ApprovalStatus } from "../contract/approvals/approval.ts";
import type { ChangeEvent } from "../contract/change.ts";
import { cutApproval } from "../contract/text/cut.ts";
import { approvalFromEvent } from "../review/approval-event.ts";
import { createListeners } from "./listeners.ts";

/** What the list keeps of an input; all of it is read when somebody opens the request. */
export const LISTED_CHARS = 4_000;

/** How a request has ended; `lost` when we tried to decide it and somebody else was first. */
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
  /** Its denial was made here and is not sent yet: nothing else can be decided on it until it is taken back. */
  isHeld?: boolean;
};
export type Inbox = ReturnType<typeof createInbox>;

type InboxNeed = {
  /** In milliseconds. */
  now: () => number;
  /** How long a request that others have decided stays in the list; the selected one stays for as long as it is. */
  settledShownMs: number;
};

/** The requests that need approval, oldest first, and which of them are selected and checked. */
export function createInbox({ now, settledShownMs }: InboxNeed) {
  const { onChange, changed } = createListeners();
  const items = new Map<string, InboxItem>();
  /** Ids grow with time. */
  let sorted: InboxItem[] | undefined;
  let arranged: InboxItem[] | undefined;
  let arrange = (all: InboxItem[]): InboxItem[] => all;
  const settledAt = new Map<string, number>();
  const checkedIds = new Set<string>();
  let selectedId: string | undefined;
  let isLoaded = false;
  /** What came and went while the list was read, which may be older. */
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

  /** Selects the oldest when none is selected, and drops those that others decided once they were shown long enough. */
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

    /** Which requests are listed, and in which order, from now on; one that is selected stays so only while it is listed. */
    arrange(how: (all: InboxItem[]) => InboxItem[]): void {
      arrange = how;
      arranged = undefined;
      if (indexOf(selectedId) < 0) selectedId = list().find(isOpen)?.approval.id ?? selectedId;
      tidy();
    },

    /** Moves the selection by so many rows. */
    move(by: number): void {
      const at = Math.min(list().length - 1, Math.max(0, indexOf(selectedId) + by));
      select(list()[at]?.approval.id);
    },

    /** Selects the next one, and after the last one the first. */
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

    /** Keeps them from being decided otherwise while their denial is held back, or lets go of them. */
    setHeld(ids: string[], isHeld: boolean): void {
      for (const id of ids) {
        const item = items.get(id);
        if (!item || item.outcome) continue;
        put({ approval: item.approval, ...(isHeld && { isHeld }) });
        if (isHeld) checkedIds.delete(id);
      }
      tidy();
    },

    /** From a request that needs nobody any more to the nearest one that does, if there is one. */
    moveOn(): void {
      if (selectedId !== undefined && !isOpen(items.get(selectedId))) select(neighbour(selectedId) ?? selectedId);
    },

    /** Lists a request that was read apart, unless it is listed. */
    put(item: InboxItem): void {
      const { id } = item.approval;
      if (items.has(id)) return;
      put(item);
      if (item.outcome) settledAt.set(id, now());
      changed();
    },

    /** From now on the list is being read. */
    beginReading(): void {
      sinceReading = { asked: new Set(), settled: new Set() };
    },

    /** Everything that is pending, as the server listed it, and how the selected one has ended if it is not among it. */
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

    /** Takes in what has happened; says which requests are new, and which somebody else has decided. */
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

    /** Somebody else has decided it. */
    settle(id: string, outcome: RequestEnd): void {
      sinceReading?.settled.add(id);
      markSettled(id, outcome);
      tidy();
    },

    /** Our own decision is done: the next one is selected, or the one before where it was the last. */
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

/** Whether it can be decided here. */
export function isOpen(item: InboxItem | undefined): boolean {
  return item !== undefined && item.outcome === undefined && !item.isHeld;
}
