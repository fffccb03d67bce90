import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { OnChange } from "../../client/listeners.ts";

/** What parts of the client say, as a signal: read again whenever one of them has changed. */
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
