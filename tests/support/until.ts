const MIN_RECHECK_MS = 10;
const MAX_RECHECK_MS = 100;

type Falsy = false | 0 | 0n | "" | null | undefined;

/**
 * Resolves with the condition's first truthy value; what the condition throws ends the wait at once. What takes long is
 * looked at less and less often: to look costs processor time, which what is waited for then lacks.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<Exclude<T, Falsy>> {
  const start = performance.now();
  for (;;) {
    const value = await condition();
    if (isTruthy(value)) return value;
    const waitedMs = performance.now() - start;
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await Bun.sleep(Math.min(Math.max(waitedMs / 5, MIN_RECHECK_MS), MAX_RECHECK_MS));
  }
}

function isTruthy<T>(value: T): value is Exclude<T, Falsy> {
  return Boolean(value);
}
