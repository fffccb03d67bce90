import { describe, expect, test } from "bun:test";
import type { Change } from "../../../src/contract/change.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { openDirect, temporaryDirect } from "./support/direct.ts";

const change = (given: Partial<Change> = {}): Omit<Change, "id"> => ({
  kind: "approval_requested",
  owner: "operator",
  sessionId: "session-1",
  subjectId: "approval-1",
  at: 1_000,
  ...given,
});

describe("changes.listAfter", () => {
  test("lists the changes after a cursor, of one owner or of all, in order", async () => {
    await using storage = await temporaryDirect();
    const { changes, write } = storage;
    await write(() => ["a", "b", "a", "b", "a"].map((owner) => changes.append(change({ owner }))));
    const idsAfter = (cursor: number, owner?: string, limit = 10) =>
      changes.listAfter(cursor, owner, limit).map(({ id }) => id);
    expect(idsAfter(0)).toEqual([1, 2, 3, 4, 5]);
    expect(idsAfter(2)).toEqual([3, 4, 5]);
    expect(idsAfter(1, "a")).toEqual([3, 5]);
    expect(idsAfter(0, undefined, 2)).toEqual([1, 2]);
    expect(changes.newestId()).toBe(5);
  });
});

describe("changes.removeBefore", () => {
  test("removes old changes from the front, batch by batch, and keeps the rest", async () => {
    await using storage = await temporaryDirect();
    const { changes, write } = storage;
    await write(() => [1, 2, 3, 4, 5, 60, 70].map((at) => changes.append(change({ at }))));
    expect(await write(() => changes.removeBefore(50, 3))).toBe(3);
    expect(await write(() => changes.removeBefore(50, 3))).toBe(2);
    expect(await write(() => changes.removeBefore(50, 3))).toBe(0);
    expect(changes.listAfter(0, undefined, 10).map(({ at }) => at)).toEqual([60, 70]);
  });

  test("never reuses an id, even after a restart", async () => {
    await using directory = await temporaryDirectory();
    {
      using direct = openDirect(directory.path);
      for (const at of [1, 2, 3]) direct.changes.append(change({ at }));
      direct.changes.removeBefore(100, 10);
    }
    using direct = openDirect(directory.path);
    expect(direct.changes.append(change()).id).toBe(4);
  });
});
