import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Answers, MAX_UPDATED_INPUT_CHARS } from "../../src/contract/approvals/decision.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import { applyAnswers, applyEdit, type Edited } from "../../src/review/edit.ts";

/** Parsed from JSON, as over a wire, so `__proto__` is a normal key. */
const json = (text: string): JsonObject => JSON.parse(text);
const inputIn = (edited: Edited): JsonObject => {
  if (edited.kind === "invalid") throw new Error(edited.reason);
  return edited.input;
};
const reasonIn = (edited: Edited): string => (edited.kind === "invalid" ? edited.reason : "it was taken");

describe("an edited input", () => {
  const original = { command: "rm -rf build", description: "clean", timeout: 5 };

  test("replaces the original if it has all its keys, and may have more", () => {
    const given = { command: "ls", description: "look", timeout: 1, cwd: "/" };
    expect(inputIn(applyEdit(original, given, false))).toEqual(given);
  });

  test("is refused if keys are missing, which the message names", () => {
    const reason = reasonIn(applyEdit(original, { command: "ls" }, false));
    expect(reason).toStartWith('lacks "description", "timeout": ');
    expect(reason).toContain("merge: true");
  });

  test("merged into the original keeps other keys, in the original's order", () => {
    const merged = inputIn(applyEdit(original, { command: "ls" }, true));
    expect(JSON.stringify(merged)).toBe('{"command":"ls","description":"clean","timeout":5}');
  });

  test.each([true, false])("removes a key whose value is null, merged: %p", (merge) => {
    const given = merge ? { timeout: null } : { ...original, timeout: null };
    expect(inputIn(applyEdit(original, given, merge))).toEqual({ command: "rm -rf build", description: "clean" });
  });

  test("merged into the original keeps other keys with the value null", () => {
    expect(inputIn(applyEdit({ a: null, b: 1 }, { b: 2 }, true))).toEqual({ a: null, b: 2 });
  });

  test("is refused if it would be empty, which would run the original", () => {
    expect(reasonIn(applyEdit({ a: 1 }, { a: null }, false))).toContain("would run the original");
    expect(reasonIn(applyEdit({ a: 1, b: 2 }, { a: null, b: null }, true))).toContain("would run the original");
    expect(reasonIn(applyEdit({}, {}, true))).toContain("would run the original");
  });

  test("is refused if the result is larger than the CLI accepts, however small the change", () => {
    const long = { text: "x".repeat(MAX_UPDATED_INPUT_CHARS), flag: false };
    expect(reasonIn(applyEdit(long, { flag: true }, true))).toContain("characters of JSON");
    expect(inputIn(applyEdit(long, { text: "short" }, true))).toEqual({ text: "short", flag: false });
  });

  test("treats __proto__, constructor and the like as keys, without changing a prototype", () => {
    const hostile = json('{"__proto__":{"polluted":1},"constructor":"a","toString":"b"}');
    expect(reasonIn(applyEdit(hostile, { a: 1 }, false))).toStartWith('lacks "__proto__", "constructor", "toString": ');
    for (const merge of [true, false]) {
      const merged = inputIn(applyEdit(merge ? { a: 1 } : {}, json('{"__proto__":{"polluted":2},"a":2}'), merge));
      expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
      expect(Object.keys(merged).sort()).toEqual(["__proto__", "a"]);
      expect(JSON.stringify(merged)).toContain('"__proto__":{"polluted":2}');
    }
    expect(inputIn(applyEdit(hostile, json('{"__proto__":null}'), true))).toEqual({ constructor: "a", toString: "b" });
    expect({}).not.toHaveProperty("polluted");
  });

  test("contains, after a merge, the given values and the original's others, for any keys", () => {
    const object = fc.dictionary(fc.string(), fc.option(fc.jsonValue()), { maxKeys: 6 }).map((value) => ({ ...value }));
    fc.assert(
      fc.property(object, object, (asked, given) => {
        const edited = applyEdit(asked, given, true);
        const expected = new Map(Object.entries(asked));
        for (const [key, value] of Object.entries(given)) {
          if (value === null) expected.delete(key);
          else expected.set(key, value);
        }
        if (expected.size === 0) expect(edited.kind).toBe("invalid");
        else expect(new Map(Object.entries(inputIn(edited)))).toEqual(expected);
      }),
    );
  });

  test("names only a few of many missing keys, shortened", () => {
    const keys = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at} ${"🙂".repeat(1_000)}`, at]));
    const reason = reasonIn(applyEdit(keys, { a: 1 }, false));
    expect(reason).toContain("and 490 more");
    expect(reason.length).toBeLessThan(2_500);
    expect(reason.isWellFormed()).toBe(true);
  });
});

describe("answers", () => {
  const options = ["A", "B, with more", "C"].map((label) => ({ label, description: "" }));
  const questions = [
    { question: "Which?", header: "One", multiSelect: false, options },
    { question: "Many?", header: "Two", multiSelect: true, options },
  ];
  const asked = { tool_name: "AskUserQuestion", input: { questions, metadata: { source: "x" } } };
  const answered = (answers: Answers) => applyAnswers(asked, answers);

  test("fill in the whole input, as the page does", () => {
    expect(inputIn(answered({ "Which?": "A", "Many?": ["C", "B, with more", "C"] }))).toEqual({
      ...asked.input,
      answers: { "Which?": "A", "Many?": "C, B, with more" },
    });
    expect(inputIn(answered({ "Which?": ["A"], "Many?": "C" }))).toMatchObject({ answers: { "Which?": "A" } });
  });

  test("are refused at once if there are more answers than options", () => {
    const reason = reasonIn(answered({ "Many?": Array.from({ length: 200_000 }, () => "C") }));
    expect(reason).toContain("can't be more than there are options");
  });

  test.each<[string, Answers, string]>([
    ["a question that is not asked", { "What?": "A" }, 'no question "What?": the questions are "Which?", "Many?"'],
    ["a label that is no option", { "Which?": "a" }, 'can\'t be "a": the options are "A", "B, with more", "C"'],
    ["a label that only looks the same", { "Which?": "А" }, 'can\'t be "А"'],
    ["one wrong label of several", { "Many?": ["A", "D"] }, 'can\'t be "D"'],
    ["several labels where one is chosen", { "Which?": ["A", "C"] }, "one option only"],
    ["no label", { "Many?": [] }, 'need one of "A"'],
    ["no answers", {}, "must not be empty"],
    ["a question that is left out", { "Which?": "A" }, 'leaves out "Many?": answer every question, or deny it'],
    [
      "an answer of one's own",
      { "Which?": "Z" },
      '"C"; for another answer deny it with a message that says what you want',
    ],
  ])("are refused with %s, and the reason names what there is", (_, answers, reason) => {
    expect(reasonIn(answered(answers))).toContain(reason);
  });

  test("are refused for another tool, and for questions of another shape", () => {
    const bash = { tool_name: "Bash", input: { command: "ls" } };
    expect(reasonIn(applyAnswers(bash, { "Which?": "A" }))).toBe('go with AskUserQuestion only: this is "Bash"');
    const odd = { tool_name: "AskUserQuestion", input: { questions: [{ text: "Which?" }] } };
    expect(applyAnswers(odd, { "Which?": "A" }).kind).toBe("invalid");
  });

  test("accept any questions and labels, __proto__ and unicode included", () => {
    const names = ["__proto__", "constructor", "é🙂\u202e", "line\nbreak"];
    const odd = names.map((question) => ({ question, options: names.map((label) => ({ label })) }));
    const answers = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(name)}`).join()}}`);
    const input = inputIn(applyAnswers({ tool_name: "AskUserQuestion", input: { questions: odd } }, answers));
    expect(new Map(Object.entries(Object(input["answers"])))).toEqual(new Map(names.map((name) => [name, name])));
    expect(reasonIn(answered(JSON.parse('{"__proto__":"A"}')))).toContain('no question "__proto__"');
  });
});
