/** Lets callers wait until all output that the child has written so far is read and handed on. */
export type ReadProgress = {
  /** Resolves when all output from before this call was handed on, or when the reader has ended. */
  wait(): Promise<void>;
  /** Sets the callback for when somebody starts to wait, so that the reader skips its pause. */
  onWait(hurry: () => void): void;
  /** The reader calls this before it reads, and calls the returned function if there was nothing more to read. */
  beginRead(): () => void;
  end(): void;
};

export function createReadProgress(): ReadProgress {
  const waiting: (() => void)[] = [];
  let hurry = () => {};
  let hasEnded = false;
  const beginRead = () => {
    const count = waiting.length;
    return () => {
      for (const resolve of waiting.splice(0, count)) resolve();
    };
  };
  return {
    wait: () =>
      new Promise((resolve) => {
        if (hasEnded) return resolve();
        waiting.push(resolve);
        hurry();
      }),
    onWait(callback) {
      hurry = callback;
    },
    beginRead,
    end() {
      hasEnded = true;
      beginRead()();
    },
  };
}
