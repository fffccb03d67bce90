export type NextSlice = () => Promise<unknown>;

/** Queues the slices of all searches: each round of the event loop runs one slice, so other work goes on. */
export function createSlices(): NextSlice {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    last = last.then(() => new Promise(setImmediate));
    return last;
  };
}
