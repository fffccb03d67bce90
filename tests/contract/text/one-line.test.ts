import { describe, expect, test } from "bun:test";
import { oneLine } from "../../../src/contract/text/one-line.ts";

describe("oneLine", () => {
  test("joins lines, and removes invisible characters", () => {
    expect(oneLine("  one\n\n\ttwo\u202e\u0000 three\r\n", 50)).toBe("one two three");
  });

  test("keeps the beginning and the end of a long text, within its limit", () => {
    const line = oneLine(`begin ${"x".repeat(1_000_000)} end`, 60);
    expect(line).toMatch(/^begin x+ … x+ end$/);
    expect(line.length).toBeLessThanOrEqual(60);
  });

  test("keeps a text that fits once it is on one line", () => {
    expect(oneLine(`a${" ".repeat(100)}b`, 40)).toBe("a b");
    expect(oneLine("x".repeat(40), 40)).toBe("x".repeat(40));
  });

  test.each(["🙂".repeat(500), "\ud800".repeat(500), "\u0001".repeat(500), '"'.repeat(500)])(
    "is well formed whatever it is cut from",
    (text) => {
      const line = oneLine(text, 50);
      expect(line.isWellFormed()).toBe(true);
      expect(line.length).toBeLessThanOrEqual(50);
    },
  );
});
