import { describe, expect, test } from "bun:test";
import { openStorage } from "../../../src/storage/sqlite/database.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { ANY_PENDING, newApproval, UNRULED } from "../rows.ts";

const START = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

describe("storage.newId", () => {
  test.each([
    ["stands still", () => START],
    ["goes on", (step: number) => START + step],
    ["is set back by an hour", (step: number) => (step < 1_000 ? START : START - HOUR_MS) + step],
    ["jumps to and fro", (step: number) => START + (step % 7) * HOUR_MS - (step % 3) * HOUR_MS],
  ])("gives ids in the order of their making when the clock %s", async (_, clock) => {
    await using directory = await temporaryDirectory();
    let step = 0;
    using storage = openStorage(
      directory.path,
      () => {},
      () => clock(step++),
    );
    const ids = Array.from({ length: 20_000 }, storage.newId);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("creates ids after those of an earlier server, even if the clock was set back since", async () => {
    await using directory = await temporaryDirectory();
    const open = (now: number) =>
      openStorage(
        directory.path,
        () => {},
        () => now,
      );
    const approval = newApproval();
    {
      using storage = open(START);
      approval.id = storage.newId();
      await storage.approvals.file(approval, ANY_PENDING, UNRULED);
    }
    using storage = open(START - HOUR_MS);
    expect(storage.newId() > approval.id).toBe(true);
  });
});
