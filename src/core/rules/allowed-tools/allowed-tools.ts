import { follow } from "../../../files/real-path.ts";
import { fileOf, searchRoot } from "../builtin/file-tools.ts";
import { type Ground, openGround } from "../ground.ts";
import type { Place, ToolCall } from "../place.ts";
import { BOOKKEEPING, EDITORS, SEARCHERS } from "../tool-kinds.ts";
import { areCommandsCovered } from "./command-pattern.ts";
import { coversPath } from "./path-pattern.ts";
import { hasKnownKeys, textAt } from "./tool-keys.ts";

/** `Tool`, or `Tool(what)`. */
type Entry = { tool: string; what: string | undefined };

/** What a session may allow by name in `strict`: never a command, an edit, the network, MCP or what is not known. */
const QUIET: readonly string[] = ["Read", ...SEARCHERS, ...BOOKKEEPING];

/**
 * Whether the session's allowed_tools cover the call, proven in the same strict way. Never throws.
 * Private paths are covered by a bare `Bash` alone, which covers every command.
 */
export function isCoveredBy(allowedTools: readonly string[], call: ToolCall, place: Place): boolean {
  try {
    if (place.supervision === "strict" && !QUIET.includes(call.toolName)) return false;
    const entries = allowedTools.flatMap((text) => readEntry(text) ?? []);
    return isNamed(entries, call) ? mayNamed(call, place) : isMatched(entries, call, place);
  } catch {
    return false;
  }
}

function readEntry(text: string): Entry | undefined {
  const match = /^([A-Za-z][\w-]*\*?)(?:\((.+)\))?$/s.exec(text);
  const [, tool, what] = match ?? [];
  if (tool === undefined || (what !== undefined && tool.includes("*"))) return undefined;
  // Both are Claude Code's own spellings of every command.
  if (tool === "Bash" && (what === "*" || what === ":*")) return { tool, what: undefined };
  return { tool, what };
}

/** Whether a bare name says the tool, whatever the call wants. */
function isNamed(entries: readonly Entry[], { toolName }: ToolCall): boolean {
  return entries.some(({ tool, what }) => {
    if (what !== undefined) return false;
    if (tool.startsWith("mcp__")) return namesMcpTool(tool, toolName);
    return tool === toolName || (tool === "Edit" && EDITORS.includes(toolName));
  });
}

/** `mcp__server__tool`; `mcp__server` and `mcp__server__*` for all tools of a server, `mcp__server__get_*` for some. */
function namesMcpTool(name: string, toolName: string): boolean {
  if (name === toolName) return true;
  const [, server = "", start] = /^mcp__([^*]+?)(?:__([^*]*)\*)?$/.exec(name) ?? [];
  if (server === "" || server.includes("__")) return false;
  // A name with more underscores could be another server's: of `mcp__a___x` both `a` and `a_`.
  const prefix = `mcp__${server}__${start ?? ""}`;
  return (
    !toolName.includes("___") &&
    toolName.startsWith(prefix) &&
    !toolName.slice(`mcp__${server}__`.length).includes("__")
  );
}

/** A bare name covers every call but those to private paths. */
function mayNamed(call: ToolCall, place: Place): boolean {
  const { toolName } = call;
  const touchesFiles = toolName === "Read" || SEARCHERS.includes(toolName) || EDITORS.includes(toolName);
  if (!touchesFiles) return true;
  const ground = openGround(place);
  if (!ground) return false;
  const found = SEARCHERS.includes(toolName) ? searchRoot(call, ground) : fileOf(call, ground);
  if (!found || ground.isPrivate(found)) return false;
  return !SEARCHERS.includes(toolName) || !ground.holdsPrivate(found);
}

function isMatched(entries: readonly Entry[], call: ToolCall, place: Place): boolean {
  const { toolName, input } = call;
  const whats = entries.flatMap(({ tool, what }) =>
    what !== undefined && (tool === toolName || (tool === "Edit" && EDITORS.includes(toolName))) ? [what] : [],
  );
  if (whats.length === 0) return false;
  if (toolName === "WebFetch") return hasKnownKeys(toolName, input) && isFetchCovered(whats, textAt(input, "url"));
  const ground = openGround(place);
  if (!ground) return false;
  if (toolName === "Bash") {
    const command = textAt(input, "command");
    return command !== undefined && hasKnownKeys(toolName, input) && areCommandsCovered(whats, command, ground);
  }
  if (toolName === "Read" || EDITORS.includes(toolName)) return isFileCovered(whats, call, place, ground);
  return false;
}

/** A file that is still to be written is where its directory really is. */
function isFileCovered(patterns: readonly string[], call: ToolCall, place: Place, ground: Ground): boolean {
  const found = fileOf(call, ground);
  if (!found || ground.isPrivate(found) || found.kind === "other") return false;
  if (call.toolName === "Read" && found.kind === "missing") return false;
  const home = follow(place.home)?.real;
  if (home === undefined) return false;
  return patterns.some((pattern) => coversPath(pattern, found.real, { workingDir: ground.start, home }));
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
