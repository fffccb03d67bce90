import type { Supervision } from "../../../contract/sessions/supervision.ts";
import { fitting, listedChars } from "../../../contract/text/fit.ts";
import { problemOfCommand } from "../matching/commands/command-pattern.ts";
import { readFetchPattern } from "../matching/fetch-pattern.ts";
import { mayCoverPath } from "../matching/paths/path-pattern.ts";
import { readMcpTools } from "../matching/tool-name.ts";
import { namedList } from "../named-list.ts";
import { TOOL_KEYS } from "../tool-keys.ts";
import { EDITORS } from "../tool-kinds.ts";
import { readEntry, STRICT_TOOLS } from "./entry.ts";

/** The limit for all messages of one session together. */
const MAX_CHARS = 1_200;

const NO_ENTRY = "an entry is one tool, or one tool with a pattern: Tool, or Tool(pattern)";
const STRICT =
  'with supervision "strict" commands, edits, the network, MCP and other tools always need a decision: use "default", or leave it out';
const NO_PATTERN = `only ${["Bash", "Read", ...EDITORS].join(", ")} and WebFetch take a pattern: leave it out`;
const NO_STAR = "a * in a name stands for tools of one MCP server: mcp__server__*, or mcp__server__get_*";
const NO_PATH =
  "a path has names, * and ? within a name, and at most two ** for directories; no brackets, no . or .., and no / at its end";
const NO_DOMAIN = "write WebFetch(domain:example.com), or WebFetch(domain:*.example.com) for all below it";
const STAYS = "a child never leaves its directory";

/**
 * Explains which entries of `allowed_tools` have no effect: malformed ones, those that no call can match, and those
 * that this supervision ignores. One sentence for each reason, of bounded length; only the quoted entries contain text
 * from outside.
 */
export function ineffectiveEntries(allowedTools: readonly string[], supervision: Supervision): string[] {
  // In this mode Claude Code itself applies the entries.
  if (supervision === "inherit") return [];
  const byReason = Map.groupBy(new Set(allowedTools), (entry) => problemOfEntry(entry, supervision));
  const said = [...byReason].flatMap(([reason, entries]) => (reason === undefined ? [] : [sentence(entries, reason)]));
  return fitting(said, MAX_CHARS, listedChars);
}

function problemOfEntry(text: string, supervision: "strict" | "default"): string | undefined {
  const entry = readEntry(text);
  if (!entry) return NO_ENTRY;
  const { tool, pattern } = entry;
  if (/^(Enter|Exit)Worktree$/.test(tool)) return STAYS;
  const spelled = [...Object.keys(TOOL_KEYS), "WebSearch"].find((name) => name.toLowerCase() === tool.toLowerCase());
  if (spelled !== undefined && spelled !== tool) return `the tool is spelled ${spelled}`;
  if (supervision === "strict" && !STRICT_TOOLS.includes(tool)) return STRICT;
  if (pattern !== undefined) return problemOfPattern(tool, pattern);
  if (!tool.includes("*")) return undefined;
  // Two underscores divide the server from its tool, so the start of a tool's name contains none.
  return readMcpTools(tool)?.start?.includes("__") === false ? undefined : NO_STAR;
}

function problemOfPattern(tool: string, pattern: string): string | undefined {
  if (tool === "Bash") return problemOfCommand(pattern);
  if (tool === "WebFetch") return readFetchPattern(pattern) ? undefined : NO_DOMAIN;
  if (tool === "Read" || EDITORS.includes(tool)) return mayCoverPath(pattern) ? undefined : NO_PATH;
  return NO_PATTERN;
}

function sentence(entries: readonly string[], reason: string): string {
  return `allowed_tools ${namedList(entries)} ${entries.length > 1 ? "have" : "has"} no effect: ${reason}.`;
}
