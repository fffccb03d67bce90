import { expect, test } from "bun:test";
import { createEventText } from "../../src/cli/terminal/event-text.ts";

const terminal = {
  out: () => {},
  err: () => {},
  input: async () => "",
  isInteractive: false,
  showsErrors: false,
  hasColour: false,
  columns: 80,
};
const resolved = {
  type: "approval_resolved",
  approval_id: "01a1e2f0-1279-72c5-be7a-33ff4c1ca52d",
  tool_name: "Bash",
  tool_use_id: null,
  status: "allowed",
  response_message: null,
  resolved_by: "operator",
};

test("a call that was edited is printed with the input that it runs with", () => {
  const edited = { ...resolved, updated_input: { command: "touch instead" } };
  const print = (withInputs: boolean, event: object) => createEventText(terminal, { withInputs })(event);
  expect(print(false, resolved)).toBe("✓ Bash was allowed by operator\n");
  expect(print(false, edited)).toBe("✓ Bash was allowed by operator, edited\n→ Bash touch instead\n");
  expect(print(true, edited)).toContain("✓ Bash was allowed by operator, edited\n");
  expect(print(true, edited)).toContain("touch instead");
});
