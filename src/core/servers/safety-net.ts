import type { Storage } from "../../storage/storage.ts";
import type { Broadcast } from "../events/broadcast.ts";

type SafetyNetNeed = {
  everyMs: number;
  /** Each looks at the database again, and does what it finds left undone. */
  rereads: (() => Promise<void>)[];
  onError: (cause: unknown) => void;
};

/**
 * What no broadcast of this process tells: what other servers did, a clock that was set, a wake-up that was lost. The
 * database is the truth, so every part looks at it again from time to time.
 */
export function openSafetyNet({ everyMs, rereads, onError }: SafetyNetNeed): AsyncDisposable {
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    for (const reread of rereads) await reread().catch(onError);
    looking = undefined;
  }

  const timer = setInterval(() => {
    looking ??= look();
  }, everyMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** Wakes whoever waits for a session, or for an approval that is no longer pending: they read again. */
export function createWaiterReread(storage: Pick<Storage, "approvals">, broadcast: Broadcast) {
  return async (): Promise<void> => {
    // Those that wait are listed first: one that begins to wait after the read would look as if it were decided.
    const waitedFor = [...broadcast.waitedFor()];
    if (waitedFor.length === 0) return;
    const pending = await storage.approvals.pendingIds();
    for (const id of waitedFor) if (!pending.has(id)) broadcast.wake(id);
  };
}
