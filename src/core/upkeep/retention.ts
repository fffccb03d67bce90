import type { Storage } from "../../storage/sqlite/database.ts";
import { WEB_TOKEN_MS } from "../access/tokens.ts";
import type { Audit } from "../audit/audit.ts";
import { forgetTreeIfUnused } from "../sessions/sessions.ts";
import { createHistoryBound, type RemoveSome } from "./history-bound.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What is younger may not have been read yet, and a child may still come back for its answer. */
const RECENT_MS = 10 * MINUTE_MS;
const BATCH = 500;

type RetentionNeed = {
  storage: Storage;
  audit: Audit;
  now: () => number;
  days: number;
  /** For what built-in rules decided. */
  builtinDays: number;
  /** How large the history may get before some of it goes early. */
  maxBytes: number;
  onError: (cause: unknown) => void;
};

/**
 * Removes what is over once it is older than the retention time, or when there is too much of it: turns with their
 * events, decided approvals, told changes. Never what is pending, nor what a running turn needs.
 */
export function createRetention({ storage, audit, now, days, builtinDays, maxBytes, onError }: RetentionNeed) {
  const { approvals, changes, turns, mcpClients, tokens, space } = storage;
  const decisions = (before: number, limit: number) => audit.forgetBefore("decisions", before, limit);
  const builtin = (before: number, limit: number) => audit.forgetBefore("builtin", before, limit);
  const history = [approvals.removeUnchainedBefore, decisions, changes.removeBefore, turns.removeEndedBefore];
  const recent = () => now() - RECENT_MS;
  const isStopped = () => stopped;
  const { removeExcess } = createHistoryBound({ storage, audit, maxBytes, recent, removeAll, isStopped, onError });
  let stopped = false;
  let isSweeping = false;

  async function removeOld(): Promise<void> {
    const old = now() - Math.max(days * DAY_MS, RECENT_MS);
    for (const remove of history) await removeAll(remove, old);
    await removeAll(builtin, now() - Math.max(Math.min(builtinDays, days) * DAY_MS, RECENT_MS));
    await removeAll(mcpClients.removeUnusedSince, old);
    await removeAll(tokens.removeWebBefore, now() - WEB_TOKEN_MS);
  }

  /** In batches, so that decisions get their turn in between; tells how many. */
  async function removeAll(remove: RemoveSome, before: number): Promise<number> {
    let removed = 0;
    for (let some = 1; some > 0 && !stopped; removed += some) some = await storage.write(() => remove(before, BATCH));
    return removed;
  }

  /** What was said in sessions of which the server was killed while it deleted them. */
  async function removeUnusedTrees(): Promise<void> {
    for (let tree = storage.nodes.treeAfter(""); tree && !stopped; tree = storage.nodes.treeAfter(tree)) {
      if (storage.sessions.countOnTree(tree) === 0) await forgetTreeIfUnused(storage, tree);
      await new Promise(setImmediate);
    }
  }

  async function giveBack(): Promise<void> {
    while (!stopped && space.giveBackSome()) await new Promise(setImmediate);
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

  /** One at a time. */
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
