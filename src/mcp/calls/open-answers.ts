/**
 * Longer than a stopping server lets any call take. After this long without a finished answer, the clients left read
 * too slowly to wait for.
 */
const QUIET_MS = 2_500;
/** The limit for all answers together. */
const MOST_MS = 5_000;

export type OpenAnswers = ReturnType<typeof createOpenAnswers>;

/** Tracks answers that are being sent, so that they can arrive before the connections are closed. */
export function createOpenAnswers({ quietMs = QUIET_MS, mostMs = MOST_MS } = {}) {
  let open = 0;
  let onSent = () => {};
  return {
    /** Counts one answer until the returned function is called. */
    begin(): () => void {
      open++;
      return () => {
        open--;
        onSent();
      };
    },
    /** Resolves when all answers are sent, when no answer was finished for a while, or when the limit is reached. */
    async sent(): Promise<void> {
      const done = Promise.withResolvers<void>();
      const cap = setTimeout(done.resolve, mostMs);
      let quiet: ReturnType<typeof setTimeout> | undefined;
      onSent = () => {
        clearTimeout(quiet);
        quiet = setTimeout(done.resolve, quietMs);
        if (open === 0) done.resolve();
      };
      onSent();
      await done.promise;
      onSent = () => {};
      clearTimeout(quiet);
      clearTimeout(cap);
    },
  };
}
