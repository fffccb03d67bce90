import type { ToolResultDraft } from "./facts.ts";

/** Tools whose error means that they did nothing, in whatever words the CLI says so. */
const ALL_OR_NOTHING = /^(Read|Write|Edit|MultiEdit|NotebookEdit|NotebookRead|Glob|Grep|LS)$/;
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

/** Whether a call did not run, because the CLI itself refused it; in doubt it ran. */
export function isRefusedCall(
  toolName: string,
  { is_error, output }: Pick<ToolResultDraft, "is_error" | "output">,
): boolean {
  if (!is_error) return false;
  if (ALL_OR_NOTHING.test(toolName)) return true;
  const refusals = toolName.startsWith("mcp__") ? MCP_REFUSALS : REFUSALS;
  return refusals.some((refusal) => refusal.test(output));
}
