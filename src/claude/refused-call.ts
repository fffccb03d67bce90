import type { ToolResultDraft } from "./facts.ts";

/** In these words the CLI says that it did not even try a call: unknown tool, bad input, a deny rule, a hook. */
const REFUSALS = [
  /^<tool_use_error>[\s\S]*<\/tool_use_error>$/,
  /^Permission to use [\s\S]* has been denied\.$/,
  /^PreToolUse:\w+ hook error: /,
];
/** What an MCP server answers is its own text, and could look like any of these. */
const MCP_REFUSALS = [
  /^<tool_use_error>(Error: No such tool available|InputValidationError):?[\s\S]*<\/tool_use_error>$/,
  /^Permission to use mcp__\S+ has been denied\.$/,
];

/** Whether the CLI itself refused the call, so that it did not run; in doubt it ran. */
export function isRefusedCall(toolName: string, { is_error, output }: Pick<ToolResultDraft, "is_error" | "output">) {
  if (!is_error) return false;
  const refusals = toolName.startsWith("mcp__") ? MCP_REFUSALS : REFUSALS;
  return refusals.some((refusal) => refusal.test(output));
}
