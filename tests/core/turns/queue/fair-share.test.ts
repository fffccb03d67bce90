import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nextQueue, type OwnerQueue, startOrder } from "../../../../src/core/turns/queue/fair-share.ts";

const OWNERS = ["a", "b", "c", "d"];
const OwnerQueues = fc
  .array(fc.record({ waiting: fc.nat(5), running: fc.nat(4), lastStart: fc.nat(9) }), { maxLength: 5 })
  .map((given) =>
    given.map(
      (queue, at): OwnerQueue => ({
        ...queue,
        owner: `owner-${at}`,
        waiting: Array.from({ length: queue.waiting }, (_, nth) => `${nth}-${at}`),
      }),
    ),
  );

describe("nextQueue", () => {
  test("is a queue with a waiting turn, and of these the one with the fewest running turns", () => {
    fc.assert(
      fc.property(OwnerQueues, (queues) => {
        const waiting = queues.filter((queue) => queue.waiting.length > 0);
        const next = nextQueue(queues);
        expect(next === undefined).toBe(waiting.length === 0);
        if (next) expect(next.running).toBe(Math.min(...waiting.map(({ running }) => running)));
      }),
    );
  });

  test("is the owner whose last start is the oldest, then the one that waits the longest", () => {
    const queue = (owner: string, given: Partial<OwnerQueue>): OwnerQueue => {
      return { owner, waiting: ["1"], running: 1, lastStart: 1, ...given };
    };
    expect(nextQueue([queue("a", { lastStart: 2 }), queue("b", { lastStart: 1 })])?.owner).toBe("b");
    expect(nextQueue([queue("a", { waiting: ["2"] }), queue("b", { waiting: ["1"] })])?.owner).toBe("b");
    expect(nextQueue([queue("a", { running: 2, lastStart: 0 }), queue("b", { running: 1 })])?.owner).toBe("b");
  });
});

describe("startOrder", () => {
  test("has every turn once, starts with the next one, and keeps the order within each queue", () => {
    fc.assert(
      fc.property(OwnerQueues, (queues) => {
        const order = startOrder(queues);
        expect(order.toSorted()).toEqual(queues.flatMap(({ waiting }) => waiting).toSorted());
        expect(order[0]).toBe(nextQueue(queues)?.waiting[0]);
        for (const { waiting } of queues) expect(order.filter((id) => waiting.includes(id))).toEqual(waiting);
      }),
    );
  });
});

describe("owners that share slots", () => {
  const Steps = fc.array(fc.record({ owner: fc.nat(3), ends: fc.boolean(), which: fc.nat(20) }), { maxLength: 80 });

  test("never leave a slot free while a turn waits, and get their first turn after one end per owner", () => {
    fc.assert(
      fc.property(Steps, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 2, max: 4 }), (steps, slots, owners) => {
        const setup = openSetup(slots);
        for (const { owner, ends, which } of steps) {
          if (ends) setup.end(which);
          else setup.file(OWNERS[owner % owners] ?? "a");
          expect(setup.isIdle()).toBe(false);
        }
        // With two owners, the first turn waits for a single end.
        expect(setup.longestWait()).toBeLessThanOrEqual(owners === 2 ? 1 : owners);
      }),
    );
  });
});

/** Slots, and owners that start and end turns. */
function openSetup(slots: number) {
  const queues = OWNERS.map((owner): OwnerQueue => ({ owner, waiting: [], running: 0, lastStart: 0 }));
  const running: OwnerQueue[] = [];
  /** How many turns ended while an owner without a running turn waited. */
  const ends = new Map<OwnerQueue, number>();
  let longest = 0;
  let count = 0;

  function start(): void {
    while (running.length < slots) {
      const queue = nextQueue(queues);
      if (!queue) return;
      longest = Math.max(longest, ends.get(queue) ?? 0);
      ends.delete(queue);
      queue.waiting.shift();
      queue.running++;
      queue.lastStart = ++count;
      running.push(queue);
    }
  }

  return {
    file(owner: string): void {
      const queue = queues.find((one) => one.owner === owner);
      if (queue?.running === 0 && queue.waiting.length === 0) ends.set(queue, 0);
      queue?.waiting.push(String(++count).padStart(5, "0"));
      start();
    },
    end(which: number): void {
      const [queue] = running.splice(which % Math.max(1, running.length), 1);
      if (!queue) return;
      queue.running--;
      for (const [waiting, number] of ends) ends.set(waiting, number + 1);
      start();
    },
    isIdle: (): boolean => running.length < slots && queues.some(({ waiting }) => waiting.length > 0),
    longestWait: (): number => longest,
  };
}
