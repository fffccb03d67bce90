import type { OwnerBytes } from "../../storage/history.ts";
import type { Storage } from "../../storage/storage.ts";
import type { AuditUpkeep } from "./audit-upkeep.ts";

const SLICE_MS = 10 * 60_000;
/** Shrink to this part of the bound, so that it is not reached again at once. */
const SHRINK_TO = 0.9;
/** The part of the bound that is removed before the owners are compared again. */
const SLICE = 0.01;
/** Estimated bytes of an audit entry with its decision. */
const ENTRY_BYTES = 1_500;
const CHANGE_BYTES = 120;
const MEGABYTE = 1024 * 1024;

/** Removes up to `limit` entries older than `before`; returns how many. */
export type RemoveSome = (before: number, limit: number) => Promise<number>;

type HistoryBoundNeed = {
  storage: Pick<Storage, "audit" | "changes" | "history">;
  audit: AuditUpkeep;
  maxBytes: number;
  /** Only rows older than this are history; newer ones stay. */
  recent: () => number;
  /** Removes all older entries in batches; returns how many. */
  removeAll: (remove: RemoveSome, before: number) => Promise<number>;
  isStopped: () => boolean;
  onError: (cause: unknown) => void;
};

/**
 * Keeps the history below its bound. Bulk data (events of turns, large inputs) goes before decisions, and first that of
 * the owner with the most bytes. Only history counts: removing decisions would make no room for other data in the
 * database.
 */
export function createHistoryBound(need: HistoryBoundNeed) {
  const { storage, audit, maxBytes, recent, removeAll, isStopped, onError } = need;
  const { changes, history } = storage;
  const records: { oldest: () => Promise<number | undefined>; remove: RemoveSome }[] = [
    { oldest: history.oldestUnchainedAt, remove: history.removeUnchainedBefore },
    {
      oldest: () => storage.audit.oldestAt("decisions"),
      remove: (before, limit) => audit.forgetBefore("decisions", before, limit),
    },
    { oldest: changes.oldestAt, remove: changes.removeBefore },
  ];
  let isTold = false;

  async function removeExcess(): Promise<void> {
    if ((await history.usedBytes()) > maxBytes && (await bytesOf(await bulk())) > maxBytes) {
      await removeBuiltin();
      await removeBulk();
      await removeRecords();
    }
    await tellOfTheRest();
  }

  /** Decisions of built-in rules go first, so that they never displace people's decisions. */
  async function removeBuiltin(): Promise<void> {
    for (let over = await excess(await bulk()); over > 0 && !isStopped(); over = await excess(await bulk())) {
      const enough = (await history.usedBytes()) - Math.min(over, maxBytes * SLICE);
      const builtin: RemoveSome = async (before, limit) =>
        (await history.usedBytes()) > enough ? audit.forgetBefore("builtin", before, limit) : 0;
      if ((await removeAll(builtin, recent())) === 0) return;
    }
  }

  async function removeBulk(): Promise<void> {
    const spent = new Set<string>();
    while (!isStopped()) {
      const held = (await bulk()).filter(({ owner }) => !spent.has(owner));
      const over = await excess(held);
      const most = held.toSorted((a, b) => b.bytes - a.bytes)[0];
      if (!most || over <= 0) return;
      const removed = await removeBulkOf(most.owner, Math.min(over, maxBytes * SLICE));
      // Nothing more of this owner can be removed, and other owners must not pay for it.
      if (removed === 0) spent.add(most.owner);
    }
  }

  /** Removes the owner's oldest turns; once there are none, cuts its large inputs. */
  async function removeBulkOf(owner: string, bytes: number): Promise<number> {
    const ended = await history.endOfTurns(owner, bytes, recent());
    const removed = await removeAll(
      (before, limit) => history.removeTurnsOfOwnerEndedBefore(owner, before, limit),
      ended,
    );
    if (removed > 0) return removed;
    const decided = await history.endOfInputs(owner, bytes, recent());
    return removeAll((before, limit) => audit.cutInputs(owner, before, limit), decided);
  }

  /**
   * Removes the oldest records of all kinds in slices of time. Of the bulk only inputs from before the hash chain count
   * here, since nothing else removes those.
   */
  async function removeRecords(): Promise<void> {
    const spent = new Set<RemoveSome>();
    while (!isStopped() && (await excess(await history.unchainedInputs(recent()))) > 0) {
      const until = recent();
      const left = records.filter(({ remove }) => !spent.has(remove));
      const kinds = await Promise.all(
        left.map(async ({ oldest, remove }) => ({ from: (await oldest()) ?? until, remove })),
      );
      const first = kinds.toSorted((a, b) => a.from - b.from)[0];
      if (!first || first.from >= until) return;
      const before = Math.min(until, first.from + SLICE_MS);
      if ((await removeAll(first.remove, before)) === 0) spent.add(first.remove);
    }
  }

  /** Bytes of turns and large inputs per owner. */
  async function bulk(): Promise<OwnerBytes[]> {
    const held = new Map<string, number>();
    const turns = await history.endedTurns(recent());
    for (const { owner, bytes } of [...turns, ...(await history.largeInputs(recent()))]) {
      held.set(owner, (held.get(owner) ?? 0) + bytes);
    }
    return [...held].map(([owner, bytes]) => ({ owner, bytes }));
  }

  async function excess(held: OwnerBytes[]): Promise<number> {
    return (await bytesOf(held)) - maxBytes * SHRINK_TO;
  }

  /** The size of the history: the given bulk, plus decisions and changes estimated by their number. */
  async function bytesOf(held: OwnerBytes[]): Promise<number> {
    const entries = await storage.audit.size();
    const newest = await changes.newestId();
    const told = newest - ((await changes.listAfter(0, undefined, 1))[0]?.id ?? newest);
    const estimate = held.reduce((sum, { bytes }) => sum + bytes, entries * ENTRY_BYTES + told * CHANGE_BYTES);
    return Math.min(estimate, await history.usedBytes());
  }

  /** Reports once that other data exceeds the bound, until there is room again. */
  async function tellOfTheRest(): Promise<void> {
    const used = await history.usedBytes();
    const ofHistory = used > maxBytes ? await bytesOf(await bulk()) : used;
    // Even an empty database has some size.
    const isTooLarge = used - ofHistory > Math.max(maxBytes, MEGABYTE);
    if (isTooLarge && !isTold) onError(new Error(tooLarge(used, ofHistory, maxBytes)));
    isTold = isTooLarge;
  }

  return { removeExcess };
}

function tooLarge(used: number, history: number, bound: number): string {
  const [usedMb, historyMb, boundMb] = [used, history, bound].map((bytes) => Math.ceil(bytes / MEGABYTE));
  return `The database holds ${usedMb} MB, of which only about ${historyMb} MB are history: more than --max-history-mb (${boundMb}) is never removed to make room (sessions and what was said in them, pending asks, turns that run, the last ten minutes). Delete sessions that nobody needs, and look who makes them.`;
}
