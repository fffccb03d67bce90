import type { LostConnection } from "../../storage/approvals.ts";

/** One connection on which a child waits for the decision on an approval. */
export type Connection = {
  /** Notes the latest request for the approval that this server knows of. */
  noteAsker(asker: string | null): void;
  /** Closes the connection; the child is not expected back. */
  finish(): void;
  /** Closes the connection before a decision: the child is expected back unless it has another connection. */
  lose(): void;
  /** Closes the connection as if it had never opened: a child that was expected back keeps its old deadline. */
  undo(): void;
};

/**
 * Counts the connections of this process on which children wait. Reports an approval when its last connection is lost,
 * and again when its child has not reconnected in time. The database knows which server holds which approval; this part
 * only has the timer, which uses a monotonic clock.
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
  /** `isOneLost`: a connection was lost while another one was open. */
  const open = new Map<string, { count: number; asker: string | null; isOneLost: boolean }>();
  const lostAt = new Map<string, { at: number; asker: string | null }>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  function watch(): void {
    if (stopped || timer || lostAt.size === 0) return;
    const [first] = lostAt.values();
    timer = setTimeout(sweep, Math.max(0, (first?.at ?? 0) + graceMs - now()) + 1);
  }

  /** `lostAt` is ordered by the time of loss, so overdue entries come first. */
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

  /** Restores an entry with its old time, and the order of `lostAt`. */
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
    /** Ids of the approvals with an open connection here. */
    openIds: (): string[] => [...open.keys()],
    /** Counts one more connection until one of its methods closes it. */
    connect(id: string, asker: string | null): Connection {
      const entry = open.get(id) ?? { count: 0, asker, isOneLost: false };
      entry.count++;
      open.set(id, entry);
      const lostBefore = lostAt.get(id);
      lostAt.delete(id);
      let hasEnded = false;
      /** Returns true if this was the last connection. */
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
    /** Counts these as lost from now on: approvals that were pending at start, or that could not be abandoned. */
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
