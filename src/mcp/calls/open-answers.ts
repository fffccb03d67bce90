/** Longer than a call may take once it is to be answered; a client that reads more slowly is not waited for. */
const QUIET_MS = 2_500;
/** However many are still being sent, one after the other. */
const MOST_MS = 5_000;

export type OpenAnswers = ReturnType<typeof createOpenAnswers>;

/** The answers that are being sent, so that whoever closes their connections can let them arrive first. */
export function createOpenAnswers({ quietMs = QUIET_MS, mostMs = MOST_MS } = {}) {
  let open = 0;
  let onSent = () => {};
  return {
    /** Counts one until the returned function is called. */
    begin(): () => void {
      open++;
      return () => {
        open--;
        onSent();
      };
    },
    /** Resolves when all of them are sent, when none was sent for a while, or when it takes too long. */
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
