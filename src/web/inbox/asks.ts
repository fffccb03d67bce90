import { batch, computed } from "@preact/signals";
import type { Approval, ApprovalStatus } from "../../contract/approvals/approval.ts";
import { now } from "../clock.ts";
import { callersOwn } from "../wire/callers-own.ts";

/** How an ask has ended; `lost` when we tried to decide it, and somebody else was first. */
export type Outcome = { status: ApprovalStatus; by: string; at: number; message: string | null; lost: boolean };
export type Ask = { approval: Approval; outcome: Outcome | undefined };

const SETTLED_SHOWN_SECS = 20;

/** By id; those who decide, load and listen change it. */
export const known = callersOwn<ReadonlyMap<string, Ask>>(new Map());
export const isLoaded = callersOwn(false);
export const selectedId = callersOwn<string | undefined>(undefined);
export const checkedIds = callersOwn<ReadonlySet<string>>(new Set());
/** On a narrow screen, list and card take turns. */
export const isCardOpen = callersOwn(false);

/** Oldest first: ids grow with time. */
export const asks = computed(() => [...known.value.values()].sort((a, b) => (a.approval.id < b.approval.id ? -1 : 1)));
export const pendingCount = computed(() => asks.value.filter(({ outcome }) => outcome === undefined).length);
export const selected = computed(() =>
  selectedId.value === undefined ? undefined : known.value.get(selectedId.value),
);
export const checked = computed(() =>
  asks.value.filter(({ approval, outcome }) => outcome === undefined && checkedIds.value.has(approval.id)),
);

export function isPending(id: string): boolean {
  const one = known.value.get(id);
  return one !== undefined && one.outcome === undefined;
}

/** Our own decision is done: the next one comes up. */
export function forget(id: string): void {
  batch(() => {
    if (selectedId.peek() === id) selectedId.value = neighbour(id);
    known.value = new Map([...known.peek()].filter(([other]) => other !== id));
    uncheck([id]);
  });
}

/** Somebody else was first. */
export function lose(id: string, outcome: Outcome): void {
  const one = known.peek().get(id);
  if (one) known.value = new Map(known.peek()).set(id, { ...one, outcome });
  uncheck([id]);
}

export function uncheck(ids: string[]): void {
  checkedIds.value = new Set([...checkedIds.peek()].filter((id) => !ids.includes(id)));
}

export function toggleChecked(id: string): void {
  const next = new Set(checkedIds.peek());
  if (!next.delete(id)) next.add(id);
  checkedIds.value = next;
}

export function openCard(id: string): void {
  selectedId.value = id;
  isCardOpen.value = true;
}

/** Moves the selection by so many rows. */
export function move(by: number): void {
  const list = asks.peek();
  const at = list.findIndex(({ approval }) => approval.id === selectedId.peek());
  const next = list[Math.min(list.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  selectedId.value = next?.approval.id;
}

function neighbour(id: string): string | undefined {
  const list = asks.peek().filter(({ approval, outcome }) => outcome === undefined || approval.id === id);
  const at = list.findIndex(({ approval }) => approval.id === id);
  return (list[at + 1] ?? list[at - 1])?.approval.id;
}

export function keepSelection(): void {
  if (selectedId.peek() !== undefined && known.peek().has(selectedId.peek() ?? "")) return;
  selectedId.value = asks.peek().find(({ outcome }) => outcome === undefined)?.approval.id;
}

/** What others have decided stays for a while, and longer where somebody looks at it. */
now.subscribe((seconds) => {
  const isOver = ({ approval, outcome }: Ask) =>
    outcome !== undefined && approval.id !== selectedId.peek() && outcome.at + SETTLED_SHOWN_SECS < seconds;
  const over = [...known.peek().values()].filter(isOver);
  if (over.length === 0) return;
  const ids = new Set(over.map(({ approval }) => approval.id));
  known.value = new Map([...known.peek()].filter(([id]) => !ids.has(id)));
});
