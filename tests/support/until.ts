const MIN_RECHECK_MS = 10;
const MAX_RECHECK_MS = 100;

type Falsy = false | 0 | 0n | "" | null | undefined;

/**
 * Resolves with the condition's first truthy value. An error of the condition ends the wait at once. The longer it
 * waits, the less often it checks: checking takes processor time away from the awaited work.
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
