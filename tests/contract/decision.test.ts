import { describe, expect, test } from "bun:test";
import { Decision, PermitAnswer, PermitInput, RespondInput } from "../../src/contract/approvals/approval.ts";

describe("Decision", () => {
  test.each([
    [{ approve: true }],
    [{ approve: false, message: "why", interrupt: true }],
    [{ approve: true, updated_input: { command: "ls" } }],
    [{ approve: true, message: null, updated_input: null, interrupt: null }],
    [{ approve: false, updated_input: null, interrupt: false }],
  ])("takes %j", (value) => {
    expect(Decision.safeParse(value).success).toBe(true);
    expect(RespondInput.safeParse({ approval_id: "x", ...value }).success).toBe(true);
  });

  test.each<[string, object]>([
    ["what is no decision", {}],
    ["a decision in words", { approve: "true" }],
    ["an argument that does not exist", { approve: true, always: true }],
    ["an edited input with a denial", { approve: false, updated_input: { a: 1 } }],
    ["an empty edited input, which would run the original", { approve: true, updated_input: {} }],
    ["an edited input that is no object", { approve: true, updated_input: [1] }],
    ["an edited input larger than the CLI takes", { approve: true, updated_input: { a: "x".repeat(49_000) } }],
    ["an interruption with an approval", { approve: true, interrupt: true }],
    ["a message as long as a book", { approve: false, message: "x".repeat(8_001) }],
  ])("refuses %s", (_, value) => {
    expect(Decision.safeParse(value).success).toBe(false);
    expect(RespondInput.safeParse({ approval_id: "x", ...value }).success).toBe(false);
  });
});

describe("PermitInput", () => {
  test("takes what the CLI sends, and what it may send one day", () => {
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
