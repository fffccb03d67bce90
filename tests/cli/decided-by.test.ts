import { describe, expect, test } from "bun:test";
import { decidedShortly, decidedWords } from "../../src/cli/terminal/decided-by.ts";

describe("who has decided", () => {
  test.each([
    ["operator", "denied by operator", { who: "operator", note: undefined }],
    ["rule:0199-12ab34cd", "denied by a rule (12ab34cd)", { who: "a rule", note: "rule 12ab34cd" }],
    ["builtin:read", "denied by the built-in rule read", { who: "builtin:read", note: undefined }],
    [
      "brake",
      "denied at once: denied three times in a row before",
      { who: "brake", note: "denied at once: denied three times in a row before" },
    ],
  ])("is told of %s", (by, words, shortly) => {
    expect(decidedWords("denied", by)).toBe(words);
    expect(decidedShortly(by)).toEqual(shortly);
  });
});
