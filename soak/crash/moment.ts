/** Timers are imprecise, so the last part is waited for in rounds of the event loop. */
const COARSE_MS = 2;

/** Waits for the random moment of a kill. */
export async function moment(ms: number): Promise<void> {
  const at = performance.now() + ms;
  if (ms > COARSE_MS) await Bun.sleep(ms - COARSE_MS);
  while (performance.now() < at) await new Promise((resolve) => setImmediate(resolve));
}

/** An expected event did not happen in time. */
export class InVain extends Error {}

export async function within<T>(ms: number, what: string, coming: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new InVain(`waited ${ms} ms in vain for ${what}`)), ms);
  });
  try {
    return await Promise.race([coming, late]);
  } finally {
    clearTimeout(timer);
  }
}
