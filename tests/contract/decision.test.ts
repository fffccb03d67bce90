import { describe, expect, test } from "bun:test";
import { PermitAnswer, PermitInput } from "../../src/contract/approvals/approval.ts";
import { Decision, DecisionBatch, RespondInput } from "../../src/contract/approvals/decision.ts";

describe("Decision", () => {
  test.each([
    [{ approve: true }],
    [{ approve: false, message: "why", interrupt: true }],
    [{ approve: true, updated_input: { command: "ls" } }],
    [{ approve: true, message: null, updated_input: null, interrupt: null }],
    [{ approve: false, updated_input: null, interrupt: false }],
    [{ approve: true, updated_input: { command: null, other: 1 }, merge: true }],
    [{ approve: true, answers: { "Which?": "A", "Many?": ["B", "C"] } }],
    [{ approve: true, merge: null, answers: null }],
    [{ answers: { "Which?": "A" } }],
    [{ approve: null, answers: { "Which?": "A" } }],
  ])("takes %j", (value) => {
    expect(Decision.safeParse(value).success).toBe(true);
    expect(RespondInput.safeParse({ approval_id: "x", ...value }).success).toBe(true);
  });

  test.each<[string, object]>([
    ["what is no decision", {}],
    ["an edited input without a decision", { updated_input: { a: 1 } }],
    ["a decision in words", { approve: "true" }],
    ["an argument that does not exist", { approve: true, always: true }],
    ["an edited input with a denial", { approve: false, updated_input: { a: 1 } }],
    ["an empty edited input, which would run the original", { approve: true, updated_input: {} }],
    ["an edited input that is no object", { approve: true, updated_input: [1] }],
    ["an edited input larger than the CLI takes", { approve: true, updated_input: { a: "x".repeat(49_000) } }],
    ["an interruption with an approval", { approve: true, interrupt: true }],
    ["a merge of nothing", { approve: true, merge: true }],
    ["answers with a denial", { approve: false, answers: { a: "b" } }],
    ["answers beside an edited input", { approve: true, answers: { a: "b" }, updated_input: { a: 1 } }],
    ["answers that are no labels", { approve: true, answers: { a: { label: "b" } } }],
    ["answers in a list", { approve: true, answers: ["b"] }],
    ["a message as long as a book", { approve: false, message: "x".repeat(8_001) }],
  ])("refuses %s", (_, value) => {
    expect(Decision.safeParse(value).success).toBe(false);
    expect(RespondInput.safeParse({ approval_id: "x", ...value }).success).toBe(false);
  });
});

test("answers alone approve, in every form of a decision", () => {
  const answers = { "Which?": "A" };
  expect(Decision.parse({ answers })).toEqual({ approve: true, answers });
  const decision = { approval_id: "x", approve: true, answers };
  expect(RespondInput.parse({ approval_id: "x", answers })).toMatchObject({ kind: "one", decision });
  expect(DecisionBatch.parse({ decisions: [{ approval_id: "x", answers }] })).toEqual({ decisions: [{ decision }] });
});

describe("RespondInput", () => {
  const one = { approval_id: "x", approve: true };

  test("is one decision or many, and accepts null for the fields of the other form", () => {
    expect(RespondInput.parse({ ...one, decisions: null, wait_secs: null })).toMatchObject({ kind: "one" });
    const nulls = { approval_id: null, approve: null, message: null, updated_input: null, answers: null };
    expect(RespondInput.parse({ decisions: [one, one], ...nulls, wait_secs: 3 })).toEqual({
      kind: "many",
      decisions: [{ decision: one }, { decision: one }],
      wait_secs: 3,
      skip: undefined,
      consumer: undefined,
    });
  });

  test("reports a problem with one of many decisions among the others", () => {
    const { decisions } = DecisionBatch.parse({ decisions: [one, { approval_id: "y" }, { ...one, extra: 1 }] });
    expect(decisions).toEqual([
      { decision: one },
      { problem: expect.stringContaining("approve"), approval_id: "y" },
      { problem: expect.stringContaining("extra"), approval_id: "x" },
    ]);
  });

  test.each<[string, object]>([
    ["both", { ...one, decisions: [one] }],
    ["neither", {}],
    ["a decision that is no object", { decisions: [one, 7] }],
    ["more than a hundred", { decisions: Array.from({ length: 101 }, () => one) }],
  ])("refuses %s", (_, given) => expect(RespondInput.safeParse(given).success).toBe(false));

  test("keeps answers and inputs with a key __proto__", () => {
    const given = JSON.parse('{"approval_id":"x","approve":true,"answers":{"__proto__":"A"}}');
    const read = RespondInput.parse(given);
    if (read.kind !== "one") throw new Error("it is one decision");
    expect(Object.keys(read.decision.answers ?? {})).toEqual(["__proto__"]);
  });
});

describe("PermitInput", () => {
  test("accepts what the CLI sends, and unknown keys", () => {
    const sent = { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1", permission_suggestions: [] };
    expect(PermitInput.safeParse(sent).success).toBe(true);
    expect(PermitInput.parse({ tool_name: "Bash", input: {}, tool_use_id: null }).tool_use_id).toBeUndefined();
  });

  test.each([
    [{ input: {} }],
    [{ tool_name: "", input: {} }],
    [{ tool_name: "Bash" }],
    [{ tool_name: "Bash", input: [] }],
  ])("refuses %j", (value) => expect(PermitInput.safeParse(value).success).toBe(false));
});

describe("PermitAnswer", () => {
  test.each([
    [{ behavior: "deny" }],
    [{ behavior: "deny", message: "" }],
    [{ behavior: "allow" }],
    [{ behavior: "allow", updatedInput: {}, interrupt: true }],
    [{ behavior: "ask", message: "x" }],
  ])("is never %j", (value) => {
    expect(PermitAnswer.safeParse(value).success).toBe(false);
  });
});
