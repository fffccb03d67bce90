/** One owner's part in the queue. */
export type OwnerQueue = {
  owner: string;
  /** The ids of its queued turns, in the order in which they were filed; ids sort by the time they were made. */
  waiting: string[];
  /** How many of its turns run. */
  running: number;
  /** When it last got a slot, as a number that grows with each start; 0 if it never did. */
  lastStart: number;
};

/**
 * The queue that gets the next slot: that of the owner with the fewest running turns, then of the one that got its last
 * slot the longest ago, then of the one whose first turn waits the longest. So whoever fills the queue delays
 * another owner's first turn by the end of one turn in a slot at most.
 */
export function nextQueue(queues: OwnerQueue[]): OwnerQueue | undefined {
  return queues.reduce<OwnerQueue | undefined>(
    (best, queue) => (queue.waiting.length > 0 && (best === undefined || isBefore(queue, best)) ? queue : best),
    undefined,
  );
}

/** The order in which all that waits would start if nothing else came, and slots became free one by one. */
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
