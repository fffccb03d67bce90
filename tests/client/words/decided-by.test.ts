import { describe, expect, test } from "bun:test";
import { decidedBy, decidedByWords } from "../../../src/client/words/decided-by.ts";

describe("who has decided", () => {
  test.each([
    ["rule:abc", { kind: "rule", id: "abc" }, "a rule"],
    ["rule:file-1f", { kind: "rule", id: "file-1f" }, "a rule"],
    ["builtin:read", { kind: "builtin", id: "builtin:read", name: "read" }, "the built-in rule read"],
    ["brake", { kind: "brake" }, "the brake"],
    ["operator", { kind: "somebody", name: "operator" }, "operator"],
    ["token:rule:night", { kind: "somebody", name: "token:rule:night" }, "token:rule:night"],
  ] as const)("%s is read from the record, and worded", (resolvedBy, by, words) => {
    expect(decidedBy(resolvedBy)).toEqual(by);
    expect(decidedByWords(by)).toBe(words);
  });
});
