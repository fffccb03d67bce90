import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { OnChange } from "../../client/listeners.ts";

/** A signal of a value from the client's parts. It reads again whenever one of the parts changes. */
export function followed<T>(read: () => T, ...parts: { onChange: OnChange }[]): ReadonlySignal<T> {
  const changes = signal(0);
  for (const { onChange } of parts) {
    onChange(() => {
      changes.value = changes.peek() + 1;
    });
  }
  return computed(() => {
    changes.value;
    return read();
  });
}
