import type { ToolResultDraft } from "./facts.ts";

/** Tools that have done nothing if they report an error. */
const ALL_OR_NOTHING = /^(Read|Write|Edit|MultiEdit|NotebookEdit|NotebookRead|Glob|Grep|LS)$/;
/** The CLI's texts for a call that it did not run: unknown tool, bad input, a deny rule, a hook, a stopped turn. */
const REFUSALS = [
  /^<tool_use_error>[\s\S]*<\/tool_use_error>$/,
  /^Permission to use [\s\S]* has been denied\.$/,
  /^PreToolUse:\w+ hook error: /,
  /^The user doesn't want to proceed with this tool use\. The tool use was rejected /,
];
/** Fewer texts, because an MCP server writes its own answers and could imitate the others. */
const MCP_REFUSALS = [
  /^<tool_use_error>(Error: No such tool available|InputValidationError):?[\s\S]*<\/tool_use_error>$/,
  /^Permission to use mcp__\S+ has been denied\.$/,
];

/** Whether the CLI itself refused a call, so that it did not run. If in doubt, it ran. */
export function isRefusedCall(
  toolName: string,
  { is_error, output }: Pick<ToolResultDraft, "is_error" | "output">,
): boolean {
  if (!is_error) return false;
  if (ALL_OR_NOTHING.test(toolName)) return true;
  const refusals = toolName.startsWith("mcp__") ? MCP_REFUSALS : REFUSALS;
  return refusals.some((refusal) => refusal.test(output));
}
