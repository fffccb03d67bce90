import { OperatorPermitInput, PermitAnswer, PermitInput } from "../../contract/approvals/approval.ts";
import { INPUT, TOOL_USE_ID } from "../../contract/samples.ts";
import { PERMIT } from "./declaration/names.ts";
import type { Tool } from "./declaration/tool.ts";

const DESCRIPTION =
  "Asks for permission to use a tool, and blocks until it is decided. For Claude Code's --permission-prompt-tool.";

/** Not run here: a stream of its own answers with the text that Claude Code parses. */
export const CHILD_PERMIT: Tool = {
  name: PERMIT,
  title: "Ask for permission",
  description: DESCRIPTION,
  input: PermitInput,
  answer: PermitAnswer,
  examples: [
    {
      input: { tool_name: "Bash", input: INPUT, tool_use_id: TOOL_USE_ID },
      answer: { behavior: "allow", updatedInput: INPUT },
    },
    {
      input: { tool_name: "Bash", input: INPUT, tool_use_id: TOOL_USE_ID },
      when: "when nobody decides in time",
      answer: {
        behavior: "deny",
        message: "Approval timed out: nobody decided within 300 seconds. The tool was not run.",
      },
    },
  ],
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  untrusted: [],
};

/** For the operator, who may try what a child would request. */
export const OPERATOR_PERMIT: Tool = {
  ...CHILD_PERMIT,
  description: `${DESCRIPTION} Here: to try it.`,
  input: OperatorPermitInput,
};
