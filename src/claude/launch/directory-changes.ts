import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";
import { filesIn } from "./launch.ts";

/** The net under the watcher, which may miss a change. */
const LOOK_AGAIN_MS = 250;

type Changes = Disposable & {
  forget(): void;
  /** Resolves when there has been a change since the last `forget`, or after a while. */
  next(): Promise<void>;
  /** Lets more come; cut short by the end, or by whoever is in a hurry. */
  pause(ms: number): Promise<void>;
  hurry(): void;
};

/** Tells when a child has written to its files. */
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
    forget() {
      changed = false;
    },
    next() {
      const { promise, stop } = waiting(LOOK_AGAIN_MS);
      wake = stop;
      if (changed) stop();
      return promise;
    },
    pause(ms) {
      const { promise, stop } = waiting(ms);
      cutShort = stop;
      if (signal?.aborted) stop();
      return promise;
    },
    hurry: noticeAtOnce,
    [Symbol.dispose]() {
      signal?.removeEventListener("abort", noticeAtOnce);
      watcher?.close();
    },
  };
}

/** Without a watcher (the directory is gone, or there are too many already) the net remains. */
function watchIfPossible(dir: string, notice: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(dir, { persistent: false }, (_, name) => notice(name));
    return watcher.on("error", () => notice(null));
  } catch {
    return undefined;
  }
}
