import { describe, expect, test } from "bun:test";
import { createShares, holdersOf } from "../../../src/http/middleware/shares.ts";

const OWNERS: Record<string, string> = { s1: "operator", s2: "operator", s3: "token:laptop" };
const ofChild = (sessionId: string) => holdersOf({ kind: "session", sessionId }, OWNERS[sessionId]) ?? [];
const ofToken = (id: string) => holdersOf({ kind: "token", id, name: id }) ?? [];

/** Takes one at a time until no more fits; returns the count. */
function fill(shares: ReturnType<typeof createShares>, holders: ReturnType<typeof ofToken>): number {
  let taken = 0;
  for (; shares.fits(holders, 1); taken++) shares.change(holders, 1);
  return taken;
}

describe("shares", () => {
  test("a token gets its share of the whole, and the next one its share of the rest", () => {
    const shares = createShares({ size: 1_600, share: 3 / 4 });
    expect([fill(shares, ofToken("a")), fill(shares, ofToken("b")), fill(shares, ofToken("c"))]).toEqual([
      1_200, 300, 75,
    ]);
  });

  test("a child leaves its siblings a part of their owner's children's share", () => {
    const shares = createShares({ size: 512, share: 1 / 2 });
    expect(fill(shares, ofChild("s1"))).toBe(128);
    expect(fill(shares, ofChild("s2"))).toBe(64);
  });

  test("children leave room for other owners' children, and for their own owner's token", () => {
    const shares = createShares({ size: 512, share: 1 / 2 });
    fill(shares, ofChild("s3"));
    expect(shares.fits(ofToken("laptop"), 192)).toBe(true);
    expect(shares.fits(ofToken("laptop"), 193)).toBe(false);
    expect(shares.fits(ofChild("s1"), 128)).toBe(true);
  });

  test("the operator is not counted, and so has no limit", () => {
    expect(holdersOf({ kind: "operator" })).toBeUndefined();
  });

  test("a returned amount can be taken again", () => {
    const shares = createShares({ size: 512, share: 1 / 2 });
    for (let round = 0; round < 3; round++) {
      expect(fill(shares, ofChild("s1"))).toBe(128);
      shares.change(ofChild("s1"), -128);
    }
    const taken = shares.take(ofChild("s2"), 128);
    expect(shares.fits(ofChild("s2"), 1)).toBe(false);
    for (let times = 0; times < 2; times++) taken[Symbol.dispose]();
    expect(fill(shares, ofChild("s2"))).toBe(128);
  });
});
