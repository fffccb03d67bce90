import type { Storage } from "../storage/database.ts";
import type { Audit } from "./audit.ts";
import { forgetTreeIfUnused } from "./sessions.ts";
import { WEB_TOKEN_MS } from "./tokens.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What is younger may not have been read yet, and a child may still come back for its answer. */
const RECENT_MS = 10 * MINUTE_MS;
const SLICE_MS = 10 * MINUTE_MS;
const BATCH = 500;
/** Below the bound by so much that it isn't reached again at once. */
const SHRINK_TO = 0.9;

type RetentionNeed = {
  storage: Storage;
  audit: Audit;
  now: () => number;
  days: number;
  /** For what built-in rules decided. */
  builtinDays: number;
  /** How large the database may get before what is oldest goes early. */
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
  const history = [
    { oldest: approvals.oldestUnchainedAt, remove: approvals.removeUnchainedBefore },
    { oldest: () => storage.audit.oldestAt("decisions"), remove: decisions },
    { oldest: changes.oldestAt, remove: changes.removeBefore },
    { oldest: turns.oldestEndedAt, remove: turns.removeEndedBefore },
  ];
  let stopped = false;
  let isSweeping = false;

  async function removeOld(): Promise<void> {
    const old = now() - Math.max(days * DAY_MS, RECENT_MS);
    for (const { remove } of history) await removeAll(remove, old);
    await removeAll(builtin, now() - Math.max(Math.min(builtinDays, days) * DAY_MS, RECENT_MS));
    await removeAll(mcpClients.removeUnusedSince, old);
    await removeAll(tokens.removeWebBefore, now() - WEB_TOKEN_MS);
  }

  /** In batches, so that decisions get their turn in between. */
  async function removeAll(remove: (before: number, limit: number) => number, before: number): Promise<void> {
    while (!stopped && (await storage.write(() => remove(before, BATCH))) > 0);
  }

  /** What was said in sessions of which the server was killed while it deleted them. */
  async function removeUnusedTrees(): Promise<void> {
    for (let tree = storage.nodes.treeAfter(""); tree && !stopped; tree = storage.nodes.treeAfter(tree)) {
      if (storage.sessions.countOnTree(tree) === 0) await forgetTreeIfUnused(storage, tree);
      await new Promise(setImmediate);
    }
  }

  /**
   * What built-in rules decided goes first, so that it never pushes out what people decided; then the oldest, whatever
   * it is, in slices of time, so that no turn is left halfway.
   */
  async function removeExcess(): Promise<void> {
    if (space.usedBytes() <= maxBytes) return;
    const isEnough = () => space.usedBytes() <= maxBytes * SHRINK_TO;
    await removeAll((before, limit) => (isEnough() ? 0 : builtin(before, limit)), now() - RECENT_MS);
    while (!stopped && space.usedBytes() > maxBytes * SHRINK_TO) {
      const recent = now() - RECENT_MS;
      const kinds = history.map(({ oldest, remove }) => ({ from: oldest() ?? recent, remove }));
      const [first, second] = kinds.toSorted((a, b) => a.from - b.from);
      if (!first || !second || first.from >= recent) return;
      await removeAll(first.remove, Math.min(recent, Math.max(second.from, first.from + SLICE_MS)));
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
