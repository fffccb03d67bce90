import { type Tool as SdkTool, ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import { LISTED_ANSWER, listedInput } from "./listed-schema.ts";
import { isRunnable, type Tool } from "./tool.ts";

/** The defaults of MCP for annotations that a tool does not set. */
const USUAL = { readOnlyHint: false, destructiveHint: true, idempotentHint: false };

/** A tool as `tools/list` shows it. Only tools with structured answers have an `outputSchema`. */
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

/** The annotations that differ from the defaults. */
function annotationsOf({ annotations }: Tool) {
  const told = Object.entries(USUAL).flatMap(([hint, usual]) => {
    const value = annotations[hint as keyof typeof USUAL] ?? usual;
    return value === usual ? [] : [[hint, value] as const];
  });
  return told.length === 0 ? {} : { annotations: Object.fromEntries(told) };
}
