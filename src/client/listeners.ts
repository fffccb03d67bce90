export type OnChange = (listener: () => void) => () => void;

/** Views of a state are told that it has changed, and read it then. */
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
