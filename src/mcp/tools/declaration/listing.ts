import { type Tool as SdkTool, ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import { LISTED_ANSWER, listedInput } from "./listed-schema.ts";
import { isRunnable, type Tool } from "./tool.ts";

/** What MCP takes for granted where a tool says nothing. */
const USUAL = { readOnlyHint: false, destructiveHint: true, idempotentHint: false };

/** A tool as `tools/list` has it; only one whose answers are structured has an `outputSchema`. */
export function listed(tool: Tool): SdkTool {
  const { name, title, description } = tool;
  const structured = isRunnable(tool) && { outputSchema: LISTED_ANSWER };
  return ToolSchema.parse({
    name,
    title,
    description,
    inputSchema: listedInput(tool.input),
    ...structured,
    ...annotationsOf(tool),
  });
}

/** Those that say what a client would not take for granted. */
function annotationsOf({ annotations }: Tool) {
  const told = Object.entries(USUAL).flatMap(([hint, usual]) => {
    const value = annotations[hint as keyof typeof USUAL] ?? usual;
    return value === usual ? [] : [[hint, value] as const];
  });
  return told.length === 0 ? {} : { annotations: Object.fromEntries(told) };
}
