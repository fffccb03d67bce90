const RECHECK_MS = 10;

type Falsy = false | 0 | 0n | "" | null | undefined;

/** Resolves with the condition's first truthy value; what the condition throws ends the wait at once. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<Exclude<T, Falsy>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (isTruthy(value)) return value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await Bun.sleep(RECHECK_MS);
  }
}

function isTruthy<T>(value: T): value is Exclude<T, Falsy> {
  return Boolean(value);
}
