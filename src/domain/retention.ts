import type { Storage } from "../storage/database.ts";
import { WEB_TOKEN_MS } from "./tokens.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BATCH = 500;

type RetentionNeed = { storage: Storage; now: () => number; days: number; onError: (cause: unknown) => void };

/** Removes decided approvals, told changes and silent clients once they are older than the retention time; never what is pending. */
export function createRetention({ storage, now, days, onError }: RetentionNeed) {
  let stopped = false;

  async function sweep(): Promise<void> {
    const old = now() - days * DAY_MS;
    for (const [remove, before] of [
      [storage.approvals.removeResolvedBefore, old],
      [storage.changes.removeBefore, old],
      [storage.mcpClients.removeUnusedSince, old],
      [storage.turns.removeEndedBefore, old],
      [storage.tokens.removeWebBefore, now() - WEB_TOKEN_MS],
    ] as const) {
      // In batches, so that decisions get their turn in between.
      while (!stopped && (await storage.write(() => remove(before, BATCH))) === BATCH);
    }
  }

  const sweepSafely = () => void sweep().catch(onError);
  const first = setTimeout(sweepSafely, MINUTE_MS);
  const timer = setInterval(sweepSafely, HOUR_MS);
  return {
    sweep,
    [Symbol.dispose]() {
      stopped = true;
      clearTimeout(first);
      clearInterval(timer);
    },
  };
}
