import { follow } from "../../../files/real-path.ts";
import { avoidsPrivate, fileOf, touchesFiles } from "../file-tools.ts";
import { isHarmlessCommand } from "../harmless-command.ts";
import { coversCommand, readCommandPattern } from "../matching/commands/command-pattern.ts";
import { coversHost, plainHost, readFetchPattern } from "../matching/fetch-pattern.ts";
import { coversPath, readPathPattern } from "../matching/paths/path-pattern.ts";
import { namesMcpTool } from "../matching/tool-name.ts";
import { openReadableFiles, type ReadableFiles } from "../readable-files.ts";
import type { ChildContext, ToolCall } from "../tool-call.ts";
import { hasKnownKeys, textAt } from "../tool-keys.ts";
import { EDITORS } from "../tool-kinds.ts";
import { type Entry, readEntry, STRICT_TOOLS } from "./entry.ts";

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

/** Whether an entry names the tool without a pattern. */
function isNamed(entries: readonly Entry[], { toolName }: ToolCall): boolean {
  return entries.some(({ tool, pattern }) => {
    if (pattern !== undefined) return false;
    if (tool.startsWith("mcp__")) return namesMcpTool(tool, toolName);
    return tool === toolName || (tool === "Edit" && EDITORS.includes(toolName));
  });
}

/** A bare name covers every call except those to private paths. */
function mayAllowByName(call: ToolCall, child: ChildContext): boolean {
  if (!touchesFiles(call)) return true;
  const files = openReadableFiles(child);
  return files !== undefined && avoidsPrivate(call, files);
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
  const known = patterns.flatMap((pattern) => readPathPattern(pattern) ?? []);
  return known.some((pattern) => coversPath(pattern, found.real, { workingDir: files.start, home }));
}

/** Whether every command of the line is covered by a pattern or is harmless anyway. */
function areCommandsCovered(patterns: readonly string[], source: string, files: ReadableFiles): boolean {
  const known = patterns.flatMap((pattern) => readCommandPattern(pattern) ?? []);
  return isHarmlessCommand(
    source,
    files,
    // In another directory the same words could run something else.
    (command, dir) => dir === files.start && known.some((pattern) => coversCommand(pattern, command, source, files)),
  );
}

function isFetchCovered(patterns: readonly string[], address: string | undefined): boolean {
  const host = plainHost(address);
  if (host === undefined) return false;
  return patterns.some((text) => {
    const pattern = readFetchPattern(text);
    return pattern !== undefined && coversHost(pattern, host);
  });
}
