/** The longest time to block the event loop. */
const SLICE_MS = 4;

type Rest = {
  /** The length of a pause, as a multiple of the work before it; by default the pause is one round of the event loop. */
  restTimes?: number;
  /** Ends a pause early. */
  signal?: AbortSignal;
};

/** Tells a long computation when to yield to the event loop. */
export function pauses({ restTimes = 0, signal }: Rest = {}) {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    /** Resolves when the work may go on. */
    async take(): Promise<void> {
      const rest = (performance.now() - since) * restTimes;
      if (rest > 0 && !signal?.aborted) await rested(rest, signal);
      else await new Promise(setImmediate);
      since = performance.now();
    },
  };
}

export type Pauses = ReturnType<typeof pauses>;

function rested(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const end = () => {
    clearTimeout(timer);
    resolve();
  };
  signal?.addEventListener("abort", end, { once: true });
  return promise.finally(() => signal?.removeEventListener("abort", end));
}
