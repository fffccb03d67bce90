import { describe, expect, test } from "bun:test";
import type { PendingLimits } from "../../../src/storage/approvals.ts";
import { createPendingBounds } from "../../../src/storage/sqlite/approvals/pending-bounds.ts";
import { newApproval } from "../rows.ts";

const MB = 1024 * 1024;
const LIMITS: PendingLimits = { asksPerSession: 10, bytesPerSession: 1 * MB, bytesInAll: 2 * MB };
const NONE = { count: 0, bytes: 0 };
const asked = (sessionId: string, owner: string, bytes: number) =>
  newApproval({ sessionId, owner, input: { a: "x".repeat(bytes) } });

describe("pending bounds", () => {
  test("leave room for every owner, whatever the others hold", () => {
    const bounds = createPendingBounds({ ofSession: () => NONE, ofOwner: () => NONE, ofAll: () => NONE });
    const limits = { ...LIMITS, bytesPerSession: 9 * MB, bytesInAll: 8 * MB };
    const taken = (owner: string) => {
      for (let asks = 0; ; asks++) {
        const refused = bounds.admit(asked(`${owner}-${asks}`, owner, MB / 8 - '{"a":""}'.length), limits);
        if (refused) return { asks, refused };
      }
    };
    expect(taken("one")).toEqual({
      asks: 32,
      refused: { outcome: "too_many", bound: "owner_bytes", size: { count: 32, bytes: 4 * MB } },
    });
    expect(["two", "three", "four"].map((owner) => taken(owner).asks)).toEqual([16, 8, 4]);
    expect(taken("one").asks).toBe(0);
  });

  test("read the count once until something was decided, however often they refuse", () => {
    let counted = 0;
    const ofSession = () => {
      counted++;
      return { count: 10, bytes: 0 };
    };
    const bounds = createPendingBounds({ ofSession, ofOwner: () => NONE, ofAll: () => NONE });
    const refused = () => bounds.admit(asked("one", "one", 1), LIMITS)?.bound;
    for (let tried = 0; tried < 100; tried++) expect(refused()).toBe("session_count");
    expect(counted).toBe(1);
    bounds.loosen();
    expect(refused()).toBe("session_count");
    expect(counted).toBe(2);
  });

  test("make room again after decisions, however many there were since the last count", () => {
    const bounds = createPendingBounds({ ofSession: () => NONE, ofOwner: () => NONE, ofAll: () => NONE });
    // None of these is pending: each was decided before the next one.
    for (let tried = 0; tried < 100; tried++) {
      expect(bounds.admit(asked("one", "one", 0.3 * MB), LIMITS)).toBeUndefined();
      bounds.loosen();
    }
  });
});
