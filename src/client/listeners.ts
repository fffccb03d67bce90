export type OnChange = (listener: () => void) => () => void;

/** Notifies views that a state has changed; they then read it. */
export function createListeners(): { onChange: OnChange; changed: () => void } {
  const listeners = new Set<() => void>();
  return {
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changed() {
      for (const listener of [...listeners]) listener();
    },
  };
}
