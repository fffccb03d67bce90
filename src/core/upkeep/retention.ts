import type { Storage } from "../../storage/storage.ts";
import { WEB_TOKEN_MS } from "../access/tokens.ts";
import { forgetTreeIfUnused } from "../sessions/sessions.ts";
import { createAuditUpkeep } from "./audit-upkeep.ts";
import { createHistoryBound, type RemoveSome } from "./history-bound.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Newer rows always stay: readers may not have read them yet, and a child may still come back for its answer. */
const RECENT_MS = 10 * MINUTE_MS;
const BATCH = 500;

type RetentionNeed = {
  storage: Storage;
  now: () => number;
  days: number;
  /** Days for decisions of built-in rules. */
  builtinDays: number;
  /** The size above which history is removed early. */
  maxBytes: number;
  onError: (cause: unknown) => void;
};

/**
 * Removes history that is older than the retention time or exceeds its size: ended turns with their events, decided
 * approvals, changes. Keeps everything that is pending or that a running turn needs.
 */
export function createRetention({ storage, now, days, builtinDays, maxBytes, onError }: RetentionNeed) {
  const audit = createAuditUpkeep({ storage, now, onError });
  const { activity, changes, history, mcpClients, readers, rules, tokens } = storage;
  const decisions = (before: number, limit: number) => audit.forgetBefore("decisions", before, limit);
  const builtin = (before: number, limit: number) => audit.forgetBefore("builtin", before, limit);
  const kinds = [history.removeUnchainedBefore, decisions, changes.removeBefore, history.removeTurnsEndedBefore];
  const recent = () => now() - RECENT_MS;
  const isStopped = () => stopped;
  const { removeExcess } = createHistoryBound({ storage, audit, maxBytes, recent, removeAll, isStopped, onError });
  let stopped = false;
  let isSweeping = false;

  async function removeOld(): Promise<void> {
    const old = now() - Math.max(days * DAY_MS, RECENT_MS);
    for (const remove of kinds) await removeAll(remove, old);
    await removeAll(builtin, now() - Math.max(Math.min(builtinDays, days) * DAY_MS, RECENT_MS));
    await removeAll(activity.removeBefore, old);
    await removeAll(mcpClients.removeUnusedSince, old);
    await removeAll(readers.removeUnusedSince, old);
    await removeAll(rules.removeSpent, now());
    await removeAll(tokens.removeWebBefore, now() - WEB_TOKEN_MS);
  }

  /** Removes in batches, so that decisions can be committed in between; returns how many. */
  async function removeAll(remove: RemoveSome, before: number): Promise<number> {
    let removed = 0;
    for (let some = 1; some > 0 && !stopped; removed += some) some = await remove(before, BATCH);
    return removed;
  }

  /** Conversations left over when the server was killed while it deleted their session. */
  async function removeUnusedTrees(): Promise<void> {
    const { treeAfter } = storage.conversations;
    for (let tree = await treeAfter(""); tree && !stopped; tree = await treeAfter(tree)) {
      await forgetTreeIfUnused(storage, tree);
      await new Promise(setImmediate);
    }
  }

  async function giveBack(): Promise<void> {
    while (!stopped && (await history.giveBackSome())) await new Promise(setImmediate);
  }

  async function sweep(): Promise<void> {
    await removeOld();
    await removeUnusedTrees();
    await bound();
  }

  async function bound(): Promise<void> {
    await removeExcess();
    await giveBack();
  }

  /** Runs one sweep at a time. */
  async function start(work: () => Promise<void>): Promise<void> {
    if (isSweeping) return;
    isSweeping = true;
    await work().catch(onError);
    isSweeping = false;
  }

  const timers = [setInterval(() => start(bound), MINUTE_MS), setInterval(() => start(sweep), HOUR_MS)];
  const first = setTimeout(() => start(sweep), MINUTE_MS / 2);
  return {
    sweep,
    [Symbol.dispose]() {
      stopped = true;
      clearTimeout(first);
      for (const timer of timers) clearInterval(timer);
    },
  };
}
