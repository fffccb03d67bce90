import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nestsDeeper } from "../../../src/claude/output/nesting.ts";

describe("nestsDeeper", () => {
  test("agrees with the value that the text stands for", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 6 }), (text, levels) => {
        expect(nestsDeeper(text, levels)).toBe(depthOf(JSON.parse(text)) > levels);
      }),
    );
  });

  test("takes no brackets in strings for nesting, whatever is escaped in them", () => {
    for (const inside of ["[[[[", '\\"[[[[', "[[\\\\", '\\\\\\"[[['])
      expect(nestsDeeper(`["${inside}"]`, 1)).toBe(false);
  });

  test("ends with text that is broken", () => {
    expect(nestsDeeper('{"never ended', 5)).toBe(false);
    expect(nestsDeeper("[".repeat(16_000_000), 100)).toBe(true);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
