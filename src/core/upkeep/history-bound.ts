import type { Storage } from "../../storage/sqlite/database.ts";
import type { OwnerBytes } from "../../storage/sqlite/upkeep/history-sizes.ts";
import type { Audit } from "../audit/audit.ts";

const SLICE_MS = 10 * 60_000;
/** Below the bound by so much that it isn't reached again at once. */
const SHRINK_TO = 0.9;
/** How much of the bound goes before it is asked again who holds the most. */
const SLICE = 0.01;
/** What an entry of the audit takes, with the decision that it tells of. */
const ENTRY_BYTES = 1_500;
const CHANGE_BYTES = 120;
const MEGABYTE = 1024 * 1024;

/** Removes up to `limit` of what is older than `before`; tells how many. */
export type RemoveSome = (before: number, limit: number) => number;

type HistoryBoundNeed = {
  storage: Storage;
  audit: Audit;
  maxBytes: number;
  /** What is not older stays, and is no history yet. */
  recent: () => number;
  /** Removes all that is older, in batches; tells how many. */
  removeAll: (remove: RemoveSome, before: number) => Promise<number>;
  isStopped: () => boolean;
  onError: (cause: unknown) => void;
};

/**
 * Keeps the history below its bound. Bulk (the events of turns, large inputs) goes before what was decided, and that of
 * the owner who holds the most before that of any other. Only the history counts: whatever else is in the database, to
 * forget decisions would not make room for it.
 */
export function createHistoryBound(need: HistoryBoundNeed) {
  const { storage, audit, maxBytes, recent, removeAll, isStopped, onError } = need;
  const { approvals, changes, turns, historySizes, space } = storage;
  const records: { oldest: () => number | undefined; remove: RemoveSome }[] = [
    { oldest: approvals.oldestUnchainedAt, remove: approvals.removeUnchainedBefore },
    {
      oldest: () => storage.audit.oldestAt("decisions"),
      remove: (before, limit) => audit.forgetBefore("decisions", before, limit),
    },
    { oldest: changes.oldestAt, remove: changes.removeBefore },
  ];
  let isTold = false;

  async function removeExcess(): Promise<void> {
    if (space.usedBytes() > maxBytes && bytesOf(bulk()) > maxBytes) {
      await removeBuiltin();
      await removeBulk();
      await removeRecords();
    }
    tellOfTheRest();
  }

  /** First, so that it never pushes out what people decided. */
  async function removeBuiltin(): Promise<void> {
    for (let over = excess(bulk()); over > 0 && !isStopped(); over = excess(bulk())) {
      const enough = space.usedBytes() - Math.min(over, maxBytes * SLICE);
      const builtin: RemoveSome = (before, limit) =>
        space.usedBytes() > enough ? audit.forgetBefore("builtin", before, limit) : 0;
      if ((await removeAll(builtin, recent())) === 0) return;
    }
  }

  async function removeBulk(): Promise<void> {
    const spent = new Set<string>();
    while (!isStopped()) {
      const held = bulk().filter(({ owner }) => !spent.has(owner));
      const over = excess(held);
      const most = held.toSorted((a, b) => b.bytes - a.bytes)[0];
      if (!most || over <= 0) return;
      const removed = await removeBulkOf(most.owner, Math.min(over, maxBytes * SLICE));
      // What it has left can't go, so that others must not go for it either.
      if (removed === 0) spent.add(most.owner);
    }
  }

  /** The owner's oldest turns; its large inputs once it has none. */
  async function removeBulkOf(owner: string, bytes: number): Promise<number> {
    const ended = historySizes.endOfTurns(owner, bytes, recent());
    const removed = await removeAll((before, limit) => turns.removeEndedOfOwner(owner, before, limit), ended);
    if (removed > 0) return removed;
    const decided = historySizes.endOfInputs(owner, bytes, recent());
    return removeAll((before, limit) => audit.cutInputs(owner, before, limit), decided);
  }

  /** The oldest, whatever it is, in slices of time; of bulk, only what no chain has counts: nothing else removes that. */
  async function removeRecords(): Promise<void> {
    const spent = new Set<RemoveSome>();
    while (!isStopped() && excess(historySizes.unchainedInputs(recent())) > 0) {
      const until = recent();
      const left = records.filter(({ remove }) => !spent.has(remove));
      const kinds = left.map(({ oldest, remove }) => ({ from: oldest() ?? until, remove }));
      const first = kinds.toSorted((a, b) => a.from - b.from)[0];
      if (!first || first.from >= until) return;
      const before = Math.min(until, first.from + SLICE_MS);
      if ((await removeAll(first.remove, before)) === 0) spent.add(first.remove);
    }
  }

  /** Turns and large inputs, by their owner. */
  function bulk(): OwnerBytes[] {
    const held = new Map<string, number>();
    for (const { owner, bytes } of [...historySizes.endedTurns(recent()), ...historySizes.largeInputs(recent())]) {
      held.set(owner, (held.get(owner) ?? 0) + bytes);
    }
    return [...held].map(([owner, bytes]) => ({ owner, bytes }));
  }

  function excess(held: OwnerBytes[]): number {
    return bytesOf(held) - maxBytes * SHRINK_TO;
  }

  /** How large the history is: this bulk, and what was decided and told, estimated from its number. */
  function bytesOf(held: OwnerBytes[]): number {
    const entries = entriesOf("decisions") + entriesOf("builtin") + storage.audit.countUnchained();
    const told = changes.newestId() - (changes.listAfter(0, undefined, 1)[0]?.id ?? changes.newestId());
    const estimate = held.reduce((sum, { bytes }) => sum + bytes, entries * ENTRY_BYTES + told * CHANGE_BYTES);
    return Math.min(estimate, space.usedBytes());
  }

  function entriesOf(chain: "decisions" | "builtin"): number {
    return (storage.audit.tail(chain)?.seq ?? 0) - (storage.audit.checkpoint(chain)?.seq ?? 0);
  }

  /** Once, until there is room again. */
  function tellOfTheRest(): void {
    const used = space.usedBytes();
    const history = used > maxBytes ? bytesOf(bulk()) : used;
    // An empty database takes some room too.
    const isTooLarge = used - history > Math.max(maxBytes, MEGABYTE);
    if (isTooLarge && !isTold) onError(new Error(tooLarge(used, history, maxBytes)));
    isTold = isTooLarge;
  }

  return { removeExcess };
}

function tooLarge(used: number, history: number, bound: number): string {
  const [usedMb, historyMb, boundMb] = [used, history, bound].map((bytes) => Math.ceil(bytes / MEGABYTE));
  return `The database holds ${usedMb} MB, of which only about ${historyMb} MB are history: more than --max-history-mb (${boundMb}) is never removed to make room (sessions and what was said in them, pending asks, turns that run, the last ten minutes). Delete sessions that nobody needs, and look who makes them.`;
}
