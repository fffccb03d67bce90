import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Line, nextLine, startOrder } from "../../../../src/core/turns/queue/fair-share.ts";

const OWNERS = ["a", "b", "c", "d"];
const Lines = fc
  .array(fc.record({ waiting: fc.nat(5), running: fc.nat(4), lastStart: fc.nat(9) }), { maxLength: 5 })
  .map((given) =>
    given.map(
      (line, at): Line => ({
        ...line,
        owner: `owner-${at}`,
        waiting: Array.from({ length: line.waiting }, (_, nth) => `${nth}-${at}`),
      }),
    ),
  );

describe("nextLine", () => {
  test("is a line in which somebody waits, and none of those runs fewer turns", () => {
    fc.assert(
      fc.property(Lines, (lines) => {
        const waiting = lines.filter((line) => line.waiting.length > 0);
        const next = nextLine(lines);
        expect(next === undefined).toBe(waiting.length === 0);
        if (next) expect(next.running).toBe(Math.min(...waiting.map(({ running }) => running)));
      }),
    );
  });

  test("is that of the owner who got a slot the longest ago, then of who waits the longest", () => {
    const line = (owner: string, given: Partial<Line>): Line => {
      return { owner, waiting: ["1"], running: 1, lastStart: 1, ...given };
    };
    expect(nextLine([line("a", { lastStart: 2 }), line("b", { lastStart: 1 })])?.owner).toBe("b");
    expect(nextLine([line("a", { waiting: ["2"] }), line("b", { waiting: ["1"] })])?.owner).toBe("b");
    expect(nextLine([line("a", { running: 2, lastStart: 0 }), line("b", { running: 1 })])?.owner).toBe("b");
  });
});

describe("startOrder", () => {
  test("has everybody once, begins with the next one, and keeps the order within each line", () => {
    fc.assert(
      fc.property(Lines, (lines) => {
        const order = startOrder(lines);
        expect(order.toSorted()).toEqual(lines.flatMap(({ waiting }) => waiting).toSorted());
        expect(order[0]).toBe(nextLine(lines)?.waiting[0]);
        for (const { waiting } of lines) expect(order.filter((id) => waiting.includes(id))).toEqual(waiting);
      }),
    );
  });
});

describe("owners that share slots", () => {
  const Steps = fc.array(fc.record({ owner: fc.nat(3), ends: fc.boolean(), which: fc.nat(20) }), { maxLength: 80 });

  test("never leave a slot free while somebody waits, and get their first turn within one end each", () => {
    fc.assert(
      fc.property(Steps, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 2, max: 4 }), (steps, slots, owners) => {
        const setup = openSetup(slots);
        for (const { owner, ends, which } of steps) {
          if (ends) setup.end(which);
          else setup.file(OWNERS[owner % owners] ?? "a");
          expect(setup.isIdle()).toBe(false);
        }
        // One who shares with one other waits for the end of a single turn.
        expect(setup.longestWait()).toBeLessThanOrEqual(owners === 2 ? 1 : owners);
      }),
    );
  });
});

/** Slots, and owners who file and end turns. */
function openSetup(slots: number) {
  const lines = OWNERS.map((owner): Line => ({ owner, waiting: [], running: 0, lastStart: 0 }));
  const running: Line[] = [];
  /** How many turns ended while an owner without a running turn waited for its first. */
  const ends = new Map<Line, number>();
  let longest = 0;
  let count = 0;

  function start(): void {
    while (running.length < slots) {
      const line = nextLine(lines);
      if (!line) return;
      longest = Math.max(longest, ends.get(line) ?? 0);
      ends.delete(line);
      line.waiting.shift();
      line.running++;
      line.lastStart = ++count;
      running.push(line);
    }
  }

  return {
    file(owner: string): void {
      const line = lines.find((one) => one.owner === owner);
      if (line?.running === 0 && line.waiting.length === 0) ends.set(line, 0);
      line?.waiting.push(String(++count).padStart(5, "0"));
      start();
    },
    end(which: number): void {
      const [line] = running.splice(which % Math.max(1, running.length), 1);
      if (!line) return;
      line.running--;
      for (const [waiting, number] of ends) ends.set(waiting, number + 1);
      start();
    },
    isIdle: (): boolean => running.length < slots && lines.some(({ waiting }) => waiting.length > 0),
    longestWait: (): number => longest,
  };
}
