import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitting, fittingText, listedChars } from "../../../src/contract/text/fit.ts";

const sizes = fc.array(fc.nat(100), { maxLength: 30 });
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

describe("fitting", () => {
  test("takes the longest run from the front that fits, and always the first item", () => {
    fc.assert(
      fc.property(sizes, fc.nat(500), (items, room) => {
        const found = fitting(items, room, (size) => size);
        expect(found).toEqual(items.slice(0, found.length));
        if (found.length > 1) expect(sum(found)).toBeLessThanOrEqual(room);
        if (found.length < items.length) expect(sum(items.slice(0, found.length + 1))).toBeGreaterThan(room);
        expect(found.length).toBeGreaterThanOrEqual(Math.min(1, items.length));
      }),
    );
  });

  test("looks at no more items than necessary", () => {
    const seen: number[] = [];
    const items = [5, 5, 5, 5].values().map((size, index) => {
      seen.push(index);
      return size;
    });
    expect(fitting(items, 10, (size) => size)).toEqual([5, 5]);
    expect(seen).toEqual([0, 1, 2]);
  });

  test("keeps a JSON list within its room, commas included", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 2 }), fc.integer({ min: 20, max: 200 }), (items, room) => {
        const found = fitting(items, room, listedChars);
        if (found.length > 1) expect(JSON.stringify(found).length).toBeLessThanOrEqual(room + 1);
      }),
    );
  });
});

describe("fittingText", () => {
  test("returns the longest beginning that fits as JSON", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary-ascii", maxLength: 200 }),
        fc.integer({ min: 2, max: 300 }),
        (text, room) => {
          const found = fittingText(text, room);
          expect(text.startsWith(found)).toBe(true);
          expect(JSON.stringify(found).length).toBeLessThanOrEqual(room);
          const longer = text.slice(0, found.length + 1);
          if (found !== text) expect(JSON.stringify(longer).length).toBeGreaterThan(room);
        },
      ),
    );
  });
});
