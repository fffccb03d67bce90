/** Lets others wait until everything that the child has written so far is read and handed on. */
export type ReadProgress = {
  /** Resolves when everything written before this call was handed on, or when nobody reads any more. */
  wait(): Promise<void>;
  /** Sets what is called when somebody starts to wait, so that the reader does not pause. */
  onWait(hurry: () => void): void;
  /** The reader calls this before it reads, and calls the result when it found nothing more to read. */
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
