import type { Change } from "../../contract/change.ts";
import { type Bell, createBell } from "./bell.ts";

/** Changes as they are published. Throws `SlowReader` when too many wait; ends when disposed or aborted. */
type Subscription = AsyncIterable<Change> & Disposable;

/** `woken` resolves at the next wake-up with the change that caused it; without a change it may be a false alarm. */
type Waiter = Disposable & Pick<Bell<Change>, "woken">;
type Ring = Bell<Change>["ring"];

export class SlowReader extends Error {
  override readonly name = "SlowReader";
  constructor(limit: number) {
    super(`more than ${limit} events waited for this reader; resume after the last id you received`);
  }
}

export type Broadcast = ReturnType<typeof createBroadcast>;

/**
 * Tells the parts of this process about committed changes. The database is the truth, so a message may be dropped: a
 * reader that is too slow gets an error and resumes from the database. No message is sent before its commit.
 */
export function createBroadcast(onError: (cause: unknown) => void = reportError) {
  const waiters = new Map<string, Set<Ring>>();
  const listeners = new Set<(change: Change) => void>();

  return {
    /** Wakes the waiters of each change, and passes the change to all listeners. */
    publish(changes: Change[]): void {
      for (const change of changes) {
        if (change.kind === "approval_resolved") wake(change.subjectId, change);
        wake(change.sessionId);
        for (const listener of listeners) tell(listener, change);
      }
    },

    /** Waits for an approval's decision, or for any change in a session. The waiter is registered when this returns. */
    waitFor(id: string): Waiter {
      const { ring, woken } = createBell<Change>();
      const others = waiters.get(id);
      if (others) others.add(ring);
      else waiters.set(id, new Set([ring]));
      return {
        woken,
        [Symbol.dispose]() {
          const set = waiters.get(id);
          if (set?.delete(ring) && set.size === 0) waiters.delete(id);
        },
      };
    },

    /** Wakes everybody who waits for this id, to read again. */
    wake: (id: string): void => wake(id),
    waitedFor: (): Iterable<string> => waiters.keys(),

    /** Calls `listener` with every change from now on, until disposed. */
    listen,

    /** The changes from now on that `accepts` returns true for; at most `limit` wait for a slow reader. */
    subscribe(accepts: (change: Change) => boolean, limit: number, signal: AbortSignal): Subscription {
      const queue: Change[] = [];
      let overflowed = false;
      let ended = signal.aborted;
      const { ring, woken } = createBell();
      const listening = listen((change) => {
        if (overflowed || !accepts(change)) return;
        if (queue.length < limit) queue.push(change);
        else overflowed = true;
        ring();
      });
      const end = () => {
        ended = true;
        listening[Symbol.dispose]();
        ring();
      };
      signal.addEventListener("abort", end);
      return {
        async *[Symbol.asyncIterator]() {
          while (!ended) {
            const next = queue.shift();
            if (next) {
              yield next;
              continue;
            }
            if (overflowed) throw new SlowReader(limit);
            await woken();
          }
        },
        [Symbol.dispose]() {
          signal.removeEventListener("abort", end);
          end();
        },
      };
    },
  };

  function listen(listener: (change: Change) => void): Disposable {
    const own = (change: Change) => listener(change);
    listeners.add(own);
    return { [Symbol.dispose]: () => listeners.delete(own) };
  }

  /** An error of one listener must not keep the change from the others. */
  function tell(listener: (change: Change) => void, change: Change): void {
    try {
      listener(change);
    } catch (cause) {
      onError(cause);
    }
  }

  function wake(id: string, change?: Change): void {
    const set = waiters.get(id);
    if (set) for (const ring of set) ring(change);
  }
}
