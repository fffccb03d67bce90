import { expect, test } from "bun:test";
import { keepNewest } from "../../src/client/keep-newest.ts";

test("keepNewest deletes the oldest entry, and makes a repeated one the newest", () => {
  const kept = new Map<string, number>();
  for (const [at, key] of ["a", "b", "a", "c"].entries()) keepNewest(kept, key, at, 2);
  expect([...kept]).toEqual([
    ["a", 2],
    ["c", 3],
  ]);
});
