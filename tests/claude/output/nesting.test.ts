import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nestsDeeper } from "../../../src/claude/output/nesting.ts";

describe("nestsDeeper", () => {
  test("agrees with the depth of the parsed value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 6 }), (text, levels) => {
        expect(nestsDeeper(text, levels)).toBe(depthOf(JSON.parse(text)) > levels);
      }),
    );
  });

  test("ignores brackets in strings, whatever is escaped in them", () => {
    for (const inside of ["[[[[", '\\"[[[[', "[[\\\\", '\\\\\\"[[['])
      expect(nestsDeeper(`["${inside}"]`, 1)).toBe(false);
  });

  test("returns for broken text too", () => {
    expect(nestsDeeper('{"never ended', 5)).toBe(false);
    expect(nestsDeeper("[".repeat(16_000_000), 100)).toBe(true);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
