import { BOOKKEEPING, SEARCHERS } from "../tool-kinds.ts";

/** `Tool`, or `Tool(pattern)`. */
export type Entry = { tool: string; pattern: string | undefined };

/** The tools that a session may allow in `strict`: never commands, edits, network, MCP or unknown tools. */
export const STRICT_TOOLS: readonly string[] = ["Read", ...SEARCHERS, ...BOOKKEEPING];

/** Parses one entry of `allowed_tools`; `undefined` if it is malformed. */
export function readEntry(text: string): Entry | undefined {
  const match = /^([A-Za-z][\w-]*\*?)(?:\((.+)\))?$/s.exec(text);
  const [, tool, pattern] = match ?? [];
  if (tool === undefined || (pattern !== undefined && tool.includes("*"))) return undefined;
  // Claude Code's own spellings of "every command".
  if (tool === "Bash" && (pattern === "*" || pattern === ":*")) return { tool, pattern: undefined };
  return { tool, pattern };
}
