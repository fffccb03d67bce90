/** Lets somebody else than the reader wait until all that was written has been read. */
export type CatchUp = {
  /** Resolves when what had been written by now was handed on, or there is no reader any more. */
  reached(): Promise<void>;
  /** For the reader: called when it should not take its time. */
  onAsked(hurry: () => void): void;
  /** For the reader, before it reads: who waits for that; to be called when there was nothing more. */
  waiting(): () => void;
  end(): void;
};

export function createCatchUp(): CatchUp {
  const asked: (() => void)[] = [];
  let hurry = () => {};
  let isOver = false;
  const waiting = () => {
    const served = asked.length;
    return () => {
      for (const resolve of asked.splice(0, served)) resolve();
    };
  };
  return {
    reached: () =>
      new Promise((resolve) => {
        if (isOver) return resolve();
        asked.push(resolve);
        hurry();
      }),
    onAsked(reader) {
      hurry = reader;
    },
    waiting,
    end() {
      isOver = true;
      waiting()();
    },
  };
}
