import type { LostConnection } from "../../storage/approvals.ts";

/** One connection on which a child waits for the decision on an approval. */
export type Connection = {
  /** Which request for the approval is the last one that is known here. */
  noteAsker(asker: string | null): void;
  /** Ends without anybody having to come back. */
  finish(): void;
  /** Ends before there was a decision: its child is expected back, unless another connection is left. */
  lose(): void;
  /** Ends as if it had never been: a child that was expected back still is, until the same time. */
  undo(): void;
};

/**
 * Counts the connections of this process on which children wait, and reports an approval when its last one is lost, and
 * when nobody has come back for it in time. Who holds what is in the database; here is only the timer, which must not
 * depend on a wall clock that may be set.
 */
export function createConnections({
  now,
  graceMs,
  onLost,
  onDropped,
}: {
  now: () => number;
  graceMs: number;
  onLost: (lost: LostConnection) => void;
  onDropped: (lost: LostConnection[]) => void;
}) {
  /** `isOneLost`: a child was cut off while another connection was left. */
  const open = new Map<string, { count: number; asker: string | null; isOneLost: boolean }>();
  const lostAt = new Map<string, { at: number; asker: string | null }>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  function watch(): void {
    if (stopped || timer || lostAt.size === 0) return;
    const [first] = lostAt.values();
    timer = setTimeout(sweep, Math.max(0, (first?.at ?? 0) + graceMs - now()) + 1);
  }

  /** Entries stand in the order in which they were lost, so the overdue ones come first. */
  function sweep(): void {
    clearTimeout(timer);
    timer = undefined;
    const dropped: LostConnection[] = [];
    for (const [id, { at, asker }] of lostAt) {
      if (now() - at < graceMs) break;
      lostAt.delete(id);
      dropped.push({ id, asker });
    }
    if (dropped.length > 0) onDropped(dropped);
    watch();
  }

  function expect({ id, asker }: LostConnection): void {
    if (!open.has(id)) lostAt.set(id, { at: now(), asker });
  }

  /** Back in its place among those that were lost before and after it. */
  function expectAsBefore(id: string, lost: { at: number; asker: string | null }): void {
    const inOrder = [...lostAt, [id, lost] as const].sort(([, one], [, other]) => one.at - other.at);
    lostAt.clear();
    for (const [lostId, entry] of inOrder) lostAt.set(lostId, entry);
    clearTimeout(timer);
    timer = undefined;
    watch();
  }

  return {
    sweep,
    /** The approvals for which a child waits here. */
    openIds: (): string[] => [...open.keys()],
    /** Counts from now on, until one of its ends. */
    connect(id: string, asker: string | null): Connection {
      const entry = open.get(id) ?? { count: 0, asker, isOneLost: false };
      entry.count++;
      open.set(id, entry);
      const lostBefore = lostAt.get(id);
      lostAt.delete(id);
      let hasEnded = false;
      /** Whether it was the last one. */
      const end = (): boolean => {
        if (hasEnded) return false;
        hasEnded = true;
        if (--entry.count > 0) return false;
        open.delete(id);
        return true;
      };
      const drop = (): void => {
        const lost = { id, asker: entry.asker };
        expect(lost);
        onLost(lost);
        watch();
      };
      return {
        noteAsker(latest) {
          entry.asker = latest;
        },
        finish: () => void end(),
        lose() {
          if (!end()) entry.isOneLost = true;
          else if (!stopped) drop();
        },
        undo() {
          if (!end() || stopped) return;
          if (entry.isOneLost) drop();
          else if (lostBefore) expectAsBefore(id, lostBefore);
        },
      };
    },
    /** Counts from now on as lost: what was pending when we started, or could not be given up. */
    expectBack(lost: Iterable<LostConnection>): void {
      for (const one of lost) expect(one);
      watch();
    },
    [Symbol.dispose]() {
      stopped = true;
      clearTimeout(timer);
      lostAt.clear();
    },
  };
}
