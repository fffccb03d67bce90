import type { Change } from "../../contract/change.ts";
import { type Bell, createBell } from "./bell.ts";

/** Changes as they come; throws `SlowReader` when too many had to wait, ends when disposed or aborted. */
type Subscription = AsyncIterable<Change> & Disposable;

/** `woken` resolves at the next wake-up since the last one, with the change that was its cause; without one it may be a false alarm. */
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
 * The in-process messenger of what this process has committed. The database is the truth, so a message may be dropped
 * (a reader that is too slow is told so and resumes from the database), but never sent before its commit.
 */
export function createBroadcast(onError: (cause: unknown) => void = reportError) {
  const waiters = new Map<string, Set<Ring>>();
  const listeners = new Set<(change: Change) => void>();

  return {
    /** Wakes the waiters of what was decided, and hands every change to those who follow. */
    publish(changes: Change[]): void {
      for (const change of changes) {
        if (change.kind === "approval_resolved") wake(change.subjectId, change);
        wake(change.sessionId);
        for (const listener of listeners) tell(listener, change);
      }
    },

    /** Waits for the decision on an approval, or for the next thing in a session; registered as soon as this returns. */
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

    /** Whoever waits for this reads again. */
    wake: (id: string): void => wake(id),
    waitedFor: (): Iterable<string> => waiters.keys(),

    /** Calls `listener` with every change from now on, until disposed. */
    listen,

    /** The changes that `accepts` lets through, from now on; at most `limit` wait for a slow reader. */
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

  /** What one listener does wrong keeps nothing from the others. */
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
