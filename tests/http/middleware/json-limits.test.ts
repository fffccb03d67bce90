import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isShallow } from "../../../src/contract/values.ts";
import { checkJsonLimits } from "../../../src/http/middleware/json-limits.ts";

const LEVELS = 110;
const check = (json: string) => () => checkJsonLimits(new TextEncoder().encode(json));
const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const values = (count: number) => `[${"0,".repeat(count - 1)}0]`;
const names = (count: number) => `{${'"a":0,'.repeat(count - 1)}"a":0}`;

describe("checkJsonLimits", () => {
  test(`accepts ${LEVELS} levels and refuses one more, in lists, in objects and in both`, () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const nested = (depth: number) => `${open.repeat(depth)}0${close.repeat(depth)}`;
      expect(check(nested(LEVELS))).not.toThrow();
      expect(check(nested(LEVELS + 1))).toThrow(`nested deeper than ${LEVELS} levels`);
      expect(check(`[${nested(LEVELS - 1)},{"a":${nested(LEVELS)}}]`)).toThrow("nested deeper");
    }
  });

  test("counts only open levels, however many were closed before", () => {
    expect(check(`[${Array(1_000).fill(lists(100)).join(",")}]`)).not.toThrow();
  });

  test("accepts 250,000 values, and refuses one more", () => {
    expect(check(values(250_000))).not.toThrow();
    expect(check(values(250_001))).toThrow("more than 250000 values");
    expect(check(`[${"[],".repeat(124_999)}[]]`)).not.toThrow();
    expect(check(`[${"{},".repeat(125_000)}{}]`)).toThrow("more than 250000 values");
  });

  test("accepts 20,000 names, and refuses one more", () => {
    expect(check(names(20_000))).not.toThrow();
    expect(check(names(20_001))).toThrow("more than 20000 names");
  });

  test("ignores the content of strings, however it is escaped", () => {
    const text = '[{,:"\\'.repeat(300_000);
    expect(check(JSON.stringify({ [text]: text, tail: '\\"[' }))).not.toThrow();
    expect(check(`{"a":"\\\\","b":${lists(LEVELS)}}`)).toThrow("nested deeper");
    expect(check(`{"a":"\\\\\\"","b":${lists(LEVELS)}}`)).toThrow("nested deeper");
    expect(check(`{"a":"\\"${lists(LEVELS)}"}`)).not.toThrow();
  });

  test("finds the same depth as a parser", () => {
    const json = fc.json({ maxDepth: 6 }).map((text) => `${"[".repeat(106)}${text}${"]".repeat(106)}`);
    fc.assert(
      fc.property(json, (text) => {
        const isTaken = isShallow(JSON.parse(text), LEVELS);
        if (isTaken) expect(check(text)).not.toThrow();
        else expect(check(text)).toThrow("nested deeper");
      }),
      { numRuns: 2_000 },
    );
  });

  test("leaves invalid JSON to the parser, unless it is too deep before its first error", () => {
    for (const text of ["", '"', '"\\', "]]]]", "}{", '{"a', "\\"]) expect(check(text)).not.toThrow();
    expect(check("[".repeat(1_000))).toThrow("nested deeper");
  });
});
