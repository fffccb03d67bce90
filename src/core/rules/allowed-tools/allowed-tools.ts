import { follow } from "../../../files/real-path.ts";
import { fileOf, searchRoot } from "../file-tools.ts";
import { openReadableFiles, type ReadableFiles } from "../readable-files.ts";
import type { ChildContext, ToolCall } from "../tool-call.ts";
import { hasKnownKeys, textAt } from "../tool-keys.ts";
import { BOOKKEEPING, EDITORS, SEARCHERS } from "../tool-kinds.ts";
import { areCommandsCovered } from "./command-pattern.ts";
import { coversPath } from "./path-pattern.ts";

/** `Tool`, or `Tool(pattern)`. */
type Entry = { tool: string; pattern: string | undefined };

/** The tools that a session may allow in `strict`: never commands, edits, network, MCP or unknown tools. */
const STRICT_TOOLS: readonly string[] = ["Read", ...SEARCHERS, ...BOOKKEEPING];

/**
 * Whether the session's allowed_tools cover the call; as strict as the built-in rules. Never throws.
 * Only a bare `Bash`, which covers every command, covers private paths.
 */
export function isCoveredBy(allowedTools: readonly string[], call: ToolCall, child: ChildContext): boolean {
  try {
    if (child.supervision === "strict" && !STRICT_TOOLS.includes(call.toolName)) return false;
    const entries = allowedTools.flatMap((text) => readEntry(text) ?? []);
    return isNamed(entries, call) ? mayAllowByName(call, child) : isMatched(entries, call, child);
  } catch {
    return false;
  }
}

function readEntry(text: string): Entry | undefined {
  const match = /^([A-Za-z][\w-]*\*?)(?:\((.+)\))?$/s.exec(text);
  const [, tool, pattern] = match ?? [];
  if (tool === undefined || (pattern !== undefined && tool.includes("*"))) return undefined;
  // Claude Code's own spellings of "every command".
  if (tool === "Bash" && (pattern === "*" || pattern === ":*")) return { tool, pattern: undefined };
  return { tool, pattern };
}

/** Whether an entry names the tool without a pattern. */
function isNamed(entries: readonly Entry[], { toolName }: ToolCall): boolean {
  return entries.some(({ tool, pattern }) => {
    if (pattern !== undefined) return false;
    if (tool.startsWith("mcp__")) return namesMcpTool(tool, toolName);
    return tool === toolName || (tool === "Edit" && EDITORS.includes(toolName));
  });
}

/** `mcp__server__tool`; `mcp__server` and `mcp__server__*` for all tools of a server, `mcp__server__get_*` for some. */
function namesMcpTool(name: string, toolName: string): boolean {
  if (name === toolName) return true;
  const [, server = "", start] = /^mcp__([^*]+?)(?:__([^*]*)\*)?$/.exec(name) ?? [];
  if (server === "" || server.includes("__")) return false;
  // With three underscores the server is ambiguous: `mcp__a___x` could belong to `a` or to `a_`.
  const prefix = `mcp__${server}__${start ?? ""}`;
  return (
    !toolName.includes("___") &&
    toolName.startsWith(prefix) &&
    !toolName.slice(`mcp__${server}__`.length).includes("__")
  );
}

/** A bare name covers every call except those to private paths. */
function mayAllowByName(call: ToolCall, child: ChildContext): boolean {
  const { toolName } = call;
  const touchesFiles = toolName === "Read" || SEARCHERS.includes(toolName) || EDITORS.includes(toolName);
  if (!touchesFiles) return true;
  const files = openReadableFiles(child);
  if (!files) return false;
  const found = SEARCHERS.includes(toolName) ? searchRoot(call, files) : fileOf(call, files);
  if (!found || files.isPrivate(found)) return false;
  return !SEARCHERS.includes(toolName) || !files.holdsPrivate(found);
}

function isMatched(entries: readonly Entry[], call: ToolCall, child: ChildContext): boolean {
  const { toolName, input } = call;
  const patterns = entries.flatMap(({ tool, pattern }) =>
    pattern !== undefined && (tool === toolName || (tool === "Edit" && EDITORS.includes(toolName))) ? [pattern] : [],
  );
  if (patterns.length === 0) return false;
  if (toolName === "WebFetch") return hasKnownKeys(toolName, input) && isFetchCovered(patterns, textAt(input, "url"));
  const files = openReadableFiles(child);
  if (!files) return false;
  if (toolName === "Bash") {
    const command = textAt(input, "command");
    return command !== undefined && hasKnownKeys(toolName, input) && areCommandsCovered(patterns, command, files);
  }
  if (toolName === "Read" || EDITORS.includes(toolName)) return isFileCovered(patterns, call, child, files);
  return false;
}

/** A file that does not exist yet counts as being in its directory's real path. */
function isFileCovered(
  patterns: readonly string[],
  call: ToolCall,
  child: ChildContext,
  files: ReadableFiles,
): boolean {
  const found = fileOf(call, files);
  if (!found || files.isPrivate(found) || found.kind === "other") return false;
  if (call.toolName === "Read" && found.kind === "missing") return false;
  const home = follow(child.home)?.real;
  if (home === undefined) return false;
  return patterns.some((pattern) => coversPath(pattern, found.real, { workingDir: files.start, home }));
}

function isFetchCovered(patterns: readonly string[], address: string | undefined): boolean {
  if (address === undefined || !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(address) || !URL.canParse(address))
    return false;
  const { hostname, port, username, password } = new URL(address);
  if (port !== "" || username !== "" || password !== "") return false;
  return patterns.some((pattern) => {
    const [, wildcard, domain] = /^domain:(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/.exec(pattern) ?? [];
    if (domain === undefined) return false;
    return wildcard === undefined ? hostname === domain : hostname.endsWith(`.${domain}`);
  });
}
