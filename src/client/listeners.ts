export type OnChange = (listener: () => void) => () => void;

/** Whoever shows a state is told that it has changed, and reads it then. */
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
