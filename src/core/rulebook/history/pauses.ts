/** The longest time to block the event loop. */
const SLICE_MS = 4;

/** Tells a long computation when to yield to the event loop. */
export function pauses() {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    /** Resolves in the next round of the event loop. */
    async take(): Promise<void> {
      await new Promise(setImmediate);
      since = performance.now();
    },
  };
}
