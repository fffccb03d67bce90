import { describe, expect, test } from "bun:test";
import { createTally } from "../../../src/storage/sqlite/tally.ts";

describe("a tally", () => {
  test("reads a key's count once, and again only after a removal", () => {
    let stored = 5;
    let counts = 0;
    const tally = createTally(() => {
      counts++;
      return { count: stored, bytes: 0 };
    });
    const add = () => {
      if (tally.atMost("one").count >= 10 && tally.counted("one").count >= 10) return false;
      tally.add("one", 1);
      stored++;
      return true;
    };
    expect(Array.from({ length: 100 }, add).filter(Boolean)).toHaveLength(5);
    expect(counts).toBe(1);
    stored -= 2;
    tally.loosen();
    expect(Array.from({ length: 100 }, add).filter(Boolean)).toHaveLength(2);
    expect(counts).toBe(2);
  });

  test("is never too low, whatever was removed in between", () => {
    const tally = createTally(() => ({ count: 1, bytes: 10 }));
    tally.add("one", 5);
    tally.loosen();
    expect(tally.atMost("one")).toMatchObject({ count: 2, bytes: 15 });
    expect(tally.counted("one")).toMatchObject({ count: 1, bytes: 10 });
  });
});
