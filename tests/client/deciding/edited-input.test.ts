import { describe, expect, test } from "bun:test";
import { editedInput } from "../../../src/client/deciding/edited-input.ts";
import { MAX_UPDATED_INPUT_CHARS } from "../../../src/contract/approvals/decision.ts";

describe("an edited input", () => {
  test("is the object in the text", () => {
    const input = { command: "make", nested: { on: [1] } };
    expect(editedInput(` ${JSON.stringify(input, null, 2)}\n`, { command: "rm" })).toEqual({ kind: "input", input });
  });

  test.each([
    ["", /^is not valid JSON: /],
    ["{", /^is not valid JSON: /],
    ["[]", /^must be a JSON object/],
    ["null", /^must be a JSON object/],
    [`{"deep":${"[".repeat(200)}${"]".repeat(200)}}`, /^must be a JSON object, at most 100 levels deep/],
    ["{}", /^must not be empty: an empty one would run the original input$/],
    [JSON.stringify({ text: "x".repeat(MAX_UPDATED_INPUT_CHARS) }), /^is 49011 characters of JSON; .* deny it/],
  ])("is refused with the reason where it can't be sent (%#)", (text, reason) => {
    expect(editedInput(text, {})).toEqual({ kind: "invalid", reason: expect.stringMatching(reason) });
  });

  test("is refused if it lacks a key of the original, and keeps a null that removes one", () => {
    const original = { command: "ls", description: "lists" };
    expect(editedInput('{"command":"make"}', original)).toEqual({
      kind: "invalid",
      reason: expect.stringMatching(/^lacks "description": /),
    });
    const input = { command: "make", description: null };
    expect(editedInput(JSON.stringify(input), original)).toEqual({ kind: "input", input });
  });
});
