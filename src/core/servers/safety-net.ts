import type { Storage } from "../../storage/storage.ts";
import type { Broadcast } from "../events/broadcast.ts";

type SafetyNetNeed = {
  everyMs: number;
  /** Each reads the database again and does what was left undone. */
  rereads: (() => Promise<void>)[];
  onError: (cause: unknown) => void;
};

/**
 * Covers what the broadcast of this process can't: changes of other servers, a changed system clock, a lost wake-up.
 * The database is the truth, so every part reads it again from time to time.
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

/** Wakes everybody who waits for a session, or for an approval that is no longer pending, to read again. */
export function createWaiterReread(storage: Pick<Storage, "approvals">, broadcast: Broadcast) {
  return async (): Promise<void> => {
    // List the waiters before the read: the approval of a waiter that came after the read would look decided.
    const waitedFor = [...broadcast.waitedFor()];
    if (waitedFor.length === 0) return;
    const pending = await storage.approvals.pendingIds();
    for (const id of waitedFor) if (!pending.has(id)) broadcast.wake(id);
  };
}
