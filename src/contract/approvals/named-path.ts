import type { JsonObject } from "../values.ts";

/** The tools of Claude Code that name one path, each with the input key that holds it. */
const PATH_KEYS = new Map([
  ["Read", "file_path"],
  ["Write", "file_path"],
  ["Edit", "file_path"],
  ["MultiEdit", "file_path"],
  ["NotebookEdit", "notebook_path"],
  ["Glob", "path"],
  ["Grep", "path"],
]);

/** Returns the path in a call, as written. */
export function namedPath({ tool_name, input }: { tool_name: string; input: JsonObject }): string | undefined {
  const path = input[PATH_KEYS.get(tool_name) ?? ""];
  return typeof path === "string" ? path : undefined;
}
