import { describe, expect, test } from "bun:test";
import { answered, choose, hasChoices, NO_CHOICES, nextOpen, write } from "../../src/review/choices.ts";
import type { Question } from "../../src/review/kinds.ts";

const options = ["a", "b", "c"].map((label) => ({ label, description: "" }));
const one: Question = { question: "One?", header: "", multiSelect: false, options };
const many: Question = { question: "Many?", header: "", multiSelect: true, options };

describe("choices", () => {
  test("replace each other if only one may be chosen, and the next open question becomes current", () => {
    const first = choose([one, many], NO_CHOICES, 0, 1);
    expect(first).toMatchObject({ at: 1, chosen: [[1]] });
    expect(choose([one, many], first, 0, 2)).toMatchObject({ at: 1, chosen: [[2]] });
    expect(choose([one, many], first, 0, 9)).toBe(first);
  });

  test("add up if several may be chosen, and are undone by choosing again", () => {
    let choices = choose([many], NO_CHOICES, 0, 2);
    choices = choose([many], choices, 0, 0);
    expect(answered({}, [many], choices)).toEqual({ answers: { "Many?": "a, c" } });
    choices = choose([many], choices, 0, 2);
    expect(answered({}, [many], choices)).toEqual({ answers: { "Many?": "a" } });
  });

  test("become an answer once no question is open; own words take precedence over options", () => {
    const half = choose([many, one], NO_CHOICES, 1, 0);
    expect(answered({}, [many, one], half)).toBeUndefined();
    expect(hasChoices(half)).toBe(true);
    expect(nextOpen([many, one], half).at).toBe(0);
    const whole = write(choose([many, one], half, 0, 1), 0, " mine ");
    const input = { questions: [1] };
    expect(answered(input, [many, one], whole)).toEqual({ ...input, answers: { "Many?": "mine", "One?": "a" } });
    expect(hasChoices(NO_CHOICES)).toBe(false);
    expect(hasChoices(write(NO_CHOICES, 0, " "))).toBe(false);
  });
});
