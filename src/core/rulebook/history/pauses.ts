/** After so long others get their turn. */
const SLICE_MS = 4;

/** Tells when others should get their turn. */
export function pauses() {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    /** Until others had theirs. */
    async take(): Promise<void> {
      await new Promise(setImmediate);
      since = performance.now();
    },
  };
}
