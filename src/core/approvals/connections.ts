/** Counts the connections that hold each waiting approval, and reports those that nobody has held for too long. */
export function createHolds({
  now,
  graceMs,
  onDropped,
}: {
  now: () => number;
  graceMs: number;
  onDropped: (ids: string[]) => void;
}) {
  const held = new Map<string, number>();
  const letGoAt = new Map<string, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  function watch(): void {
    if (stopped || timer || letGoAt.size === 0) return;
    const [first] = letGoAt.values();
    timer = setTimeout(sweep, Math.max(0, (first ?? 0) + graceMs - now()) + 1);
  }

  /** Entries stand in the order in which they were let go, so the overdue ones come first. */
  function sweep(): void {
    clearTimeout(timer);
    timer = undefined;
    const dropped: string[] = [];
    for (const [id, since] of letGoAt) {
      if (now() - since < graceMs) break;
      letGoAt.delete(id);
      dropped.push(id);
    }
    if (dropped.length > 0) onDropped(dropped);
    watch();
  }

  return {
    sweep,
    isHeld: (id: string): boolean => held.has(id),
    hold(id: string): Disposable {
      held.set(id, (held.get(id) ?? 0) + 1);
      letGoAt.delete(id);
      let released = false;
      return {
        [Symbol.dispose]() {
          if (released) return;
          released = true;
          const others = (held.get(id) ?? 1) - 1;
          if (others > 0) {
            held.set(id, others);
            return;
          }
          held.delete(id);
          letGoAt.set(id, now());
          watch();
        },
      };
    },
    /** Counts from now on as let go: what was pending when we started. */
    expectHolder(ids: Iterable<string>): void {
      for (const id of ids) if (!held.has(id)) letGoAt.set(id, now());
      watch();
    },
    [Symbol.dispose]() {
      stopped = true;
      clearTimeout(timer);
      letGoAt.clear();
    },
  };
}
