/** One owner's part of the queue. */
export type OwnerQueue = {
  owner: string;
  /** The ids of its queued turns, oldest first; ids sort by creation time. */
  waiting: string[];
  /** The number of its running turns. */
  running: number;
  /** When it last got a slot, as a counter that grows with each start; 0 if never. */
  lastStart: number;
};

/**
 * Chooses who gets the next slot: the owner with the fewest running turns; of these, the one whose last start is the
 * oldest; of these, the one whose first turn waits the longest. So an owner that fills the queue delays another owner's
 * first turn only until one slot becomes free.
 */
export function nextQueue(queues: OwnerQueue[]): OwnerQueue | undefined {
  return queues.reduce<OwnerQueue | undefined>(
    (best, queue) => (queue.waiting.length > 0 && (best === undefined || isBefore(queue, best)) ? queue : best),
    undefined,
  );
}

/** The order in which the queued turns would start if nothing else came and slots became free one by one. */
export function startOrder(queues: OwnerQueue[]): string[] {
  const ahead = queues.map((queue) => ({ ...queue, waiting: [...queue.waiting] }));
  let starts = Math.max(0, ...ahead.map(({ lastStart }) => lastStart));
  const order: string[] = [];
  for (let queue = nextQueue(ahead); queue; queue = nextQueue(ahead)) {
    order.push(...queue.waiting.splice(0, 1));
    queue.running++;
    queue.lastStart = ++starts;
  }
  return order;
}

function isBefore(a: OwnerQueue, b: OwnerQueue): boolean {
  if (a.running !== b.running) return a.running < b.running;
  if (a.lastStart !== b.lastStart) return a.lastStart < b.lastStart;
  return (a.waiting[0] ?? "") < (b.waiting[0] ?? "");
}
