import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { OwnerQueue } from "../../../../src/core/turns/queue/fair-share.ts";
import { MAX_GENERATIONS, mostBorrowed, nextStart, type RunningChild } from "../../../../src/core/turns/queue/slots.ts";

const OWNERS = ["a", "b", "c", "d"];
const Owner = fc.constantFrom(...OWNERS);
const Slots = fc.constantFrom(1, 2, 3, 4, 7, 16);
const Step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ owner: Owner, heldTokens: fc.subarray(OWNERS) }) },
  { weight: 2, arbitrary: fc.record({ ends: fc.nat(40) }) },
);
const Steps = fc.array(Step, { maxLength: 200, size: "max" });

describe("in any order of starts and ends,", () => {
  test("slots and borrowed turns stay within their bounds, and nobody borrows while a slot is free", () => {
    fc.assert(
      fc.property(Steps, Slots, (steps, slots) => {
        const setup = openSetup(slots);
        for (const step of steps) {
          if ("ends" in step) setup.endAny(step.ends);
          else setup.file(step);
          const borrowed = setup.running.filter(({ isBorrowed }) => isBorrowed);
          const ofOne = OWNERS.map((one) => borrowed.filter(({ owner }) => owner === one).length);
          expect(setup.running.length - borrowed.length).toBeLessThanOrEqual(slots);
          expect(borrowed.length).toBeLessThanOrEqual(mostBorrowed(slots) + OWNERS.length);
          expect(Math.max(...ofOne)).toBeLessThanOrEqual(MAX_GENERATIONS);
          expect(setup.hasWaitingBesideFreeSlot()).toBe(false);
        }
      }),
    );
  });

  test("an owner's first turn waits for at most one end of a turn per owner", () => {
    fc.assert(
      fc.property(Steps, Slots, (steps, slots) => {
        const setup = openSetup(slots);
        for (const step of steps) {
          if ("ends" in step) setup.endAny(step.ends);
          else setup.file(step);
        }
        expect(setup.longestWait()).toBeLessThanOrEqual(OWNERS.length);
      }),
    );
  });
});

describe("parents that wait for their children", () => {
  /** For each turn, its parent among the earlier ones, if any, and the owner whose token the parent starts it with. */
  const Family = fc.array(fc.record({ parent: fc.option(fc.nat(7)), owner: Owner }), {
    minLength: 1,
    maxLength: 30,
    size: "max",
  });

  test("all end, whatever tokens they hold and however many slots there are", () => {
    fc.assert(
      fc.property(Family, fc.integer({ min: 1, max: 4 }), (family, slots) => {
        const setup = openSetup(slots);
        // Only the first eight can be parents: with one slot, eight may wait for others.
        const parentOf = family.map(({ parent }, at) => (parent !== null && parent < at ? parent : undefined));
        const childrenOf = (at: number) => family.keys().filter((child) => parentOf[child] === at);
        const file = (at: number) => {
          const heldTokens = childrenOf(at).map((child) => family[child]?.owner ?? "");
          setup.file({ owner: family[at]?.owner ?? "", heldTokens: heldTokens.toArray(), name: `${at}` });
        };
        const [isFiled, isOver] = [new Set<number>(), new Set<number>()];
        for (let isMoving = true; isMoving; ) {
          isMoving = false;
          for (const at of family.keys()) {
            const parent = parentOf[at];
            if (!isFiled.has(at) && (parent === undefined || setup.isRunning(`${parent}`))) {
              isFiled.add(at);
              file(at);
              isMoving = true;
            }
            if (setup.isRunning(`${at}`) && childrenOf(at).every((child) => isOver.has(child))) {
              isOver.add(at);
              setup.end(`${at}`);
              isMoving = true;
            }
          }
        }
        expect(isOver.size).toBe(family.length);
      }),
    );
  });

  test("all end if each holds the token of the other's owner", () => {
    const setup = openSetup(2);
    setup.file({ owner: "a", heldTokens: ["b"], name: "first parent" });
    setup.file({ owner: "b", heldTokens: ["a"], name: "second parent" });
    setup.file({ owner: "b", heldTokens: [], name: "first child" });
    setup.file({ owner: "a", heldTokens: [], name: "second child" });
    expect(["first child", "second child"].map(setup.isRunning)).toEqual([true, true]);
  });
});

/** Slots, and owners that start and end turns whose children hold tokens. */
function openSetup(slots: number) {
  type Turn = { owner: string; heldTokens: string[]; name: string };
  const queues = OWNERS.map((owner): OwnerQueue => ({ owner, waiting: [], running: 0, lastStart: 0 }));
  const queueOf = (owner: string) => queues.find((queue) => queue.owner === owner) ?? expect.unreachable();
  const filed = new Map<string, Turn>();
  const running: (RunningChild & Turn)[] = [];
  /** How many turns in slots ended while an owner without a running turn waited. */
  const waits = new Map<string, number>();
  let longest = 0;
  let count = 0;

  function start(): void {
    for (;;) {
      const next = nextStart(queues, running, slots);
      if (!next) return;
      const turn = filed.get(next.id) ?? expect.unreachable();
      const queue = queueOf(turn.owner);
      expect(queue.waiting.shift()).toBe(next.id);
      queue.running++;
      queue.lastStart = ++count;
      longest = Math.max(longest, waits.get(turn.owner) ?? 0);
      waits.delete(turn.owner);
      running.push({ ...turn, isBorrowed: next.isBorrowed });
    }
  }

  function endAt(index: number): void {
    const [turn] = running.splice(index, 1);
    if (!turn) return;
    queueOf(turn.owner).running--;
    if (!turn.isBorrowed) for (const [owner, ends] of waits) waits.set(owner, ends + 1);
    start();
  }

  return {
    running,
    file({ owner, heldTokens, name = "" }: Omit<Turn, "name"> & { name?: string }): void {
      const id = String(++count).padStart(5, "0");
      const queue = queueOf(owner);
      if (queue.running === 0 && queue.waiting.length === 0) waits.set(owner, 0);
      filed.set(id, { owner, heldTokens, name });
      queue.waiting.push(id);
      start();
    },
    endAny: (which: number): void => endAt(which % Math.max(1, running.length)),
    end: (name: string): void => endAt(running.findIndex((turn) => turn.name === name)),
    isRunning: (name: string): boolean => running.some((turn) => turn.name === name),
    hasWaitingBesideFreeSlot: (): boolean =>
      running.filter(({ isBorrowed }) => !isBorrowed).length < slots &&
      queues.some(({ waiting }) => waiting.length > 0),
    longestWait: (): number => Math.max(longest, ...waits.values()),
  };
}
