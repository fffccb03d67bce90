import { batch, type Signal, signal } from "@preact/signals";

const clearings: (() => void)[] = [];

/** A signal for what one caller has read or done here: it is empty again for the next one. */
export function callersOwn<T>(empty: T): Signal<T> {
  const own = signal(empty);
  clearings.push(() => {
    own.value = empty;
  });
  return own;
}

export function forgetCaller(): void {
  batch(() => {
    for (const clear of clearings) clear();
  });
}
