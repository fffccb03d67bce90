import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";
import { filesIn } from "../launch/launch.ts";

/** The watcher may miss a change, and tells nothing of a child that was killed with the shell around it. */
const LOOK_AGAIN_MS = 2_000;
/** Where there is no watcher. */
const LOOK_AGAIN_UNWATCHED_MS = 250;

type Changes = Disposable & {
  reset(): void;
  /** Resolves when there has been a change since the last `reset`, or after a while. */
  next(): Promise<void>;
  /** Waits for more output; the child's end and `hurry` cut it short. */
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

/** `undefined` when the directory is gone or there are too many watchers; looking again then does the work. */
function watchIfPossible(dir: string, notice: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(dir, { persistent: false }, (_, name) => notice(name));
    return watcher.on("error", () => notice(null));
  } catch {
    return undefined;
  }
}
