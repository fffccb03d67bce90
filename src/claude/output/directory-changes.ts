import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";
import { filesIn } from "../launch/launch.ts";

/**
 * Without an event, look again after this time: the watcher may miss a change, and does not notice that the child and
 * its shell were killed.
 */
const LOOK_AGAIN_MS = 2_000;
/** The same if there is no watcher. */
const LOOK_AGAIN_UNWATCHED_MS = 250;

type Changes = Disposable & {
  reset(): void;
  /** Resolves after a change since the last `reset`, or when it is time to look again. */
  next(): Promise<void>;
  /** Waits to gather more output; ends early when the child has ended or `hurry` is called. */
  pause(ms: number): Promise<void>;
  hurry(): void;
};

/** Notices when a child has written to its files. */
export function watchChanges(dir: string, signal: AbortSignal | undefined): Changes {
  let changed = false;
  let wake = () => {};
  let cutShort = () => {};
  const waiting = (ms: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    return { promise, stop };
  };
  const notice = () => {
    changed = true;
    wake();
  };
  const noticeAtOnce = () => {
    notice();
    cutShort();
  };
  const exit = basename(filesIn(dir).exit);
  const watcher = watchIfPossible(dir, (name) => (name === exit ? noticeAtOnce() : notice()));
  signal?.addEventListener("abort", noticeAtOnce);
  return {
    reset() {
      changed = false;
    },
    next() {
      const { promise, stop } = waiting(watcher ? LOOK_AGAIN_MS : LOOK_AGAIN_UNWATCHED_MS);
      wake = stop;
      if (changed) stop();
      return promise;
    },
    async pause(ms) {
      if (ms <= 0) return;
      const { promise, stop } = waiting(ms);
      cutShort = stop;
      if (signal?.aborted) stop();
      await promise;
    },
    hurry: noticeAtOnce,
    [Symbol.dispose]() {
      signal?.removeEventListener("abort", noticeAtOnce);
      watcher?.close();
    },
  };
}

/** `undefined` if the directory is gone or there are too many watchers; then the reader only looks again. */
function watchIfPossible(dir: string, notice: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(dir, { persistent: false }, (_, name) => notice(name));
    return watcher.on("error", () => notice(null));
  } catch {
    return undefined;
  }
}
