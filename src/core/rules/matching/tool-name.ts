import { TOOL_KEYS } from "../tool-keys.ts";
import { EDITORS } from "../tool-kinds.ts";
import { firstOf } from "./first-order.ts";
import { matchesText } from "./paths/path-pattern.ts";

/** The server accepts no longer tool name. */
const MAX_NAME = 512;

/**
 * Other names under which rules find a tool: `Edit` stands for all editing tools, `Monitor` runs commands like `Bash`,
 * and `Agent` was called `Task` before.
 */
const ALSO_NAMED = new Map([
  ...EDITORS.map((tool): [string, string] => [tool, "Edit"]),
  ["Monitor", "Bash"],
  ["Task", "Agent"],
  ["Agent", "Task"],
]);

/** Finds tools by name, ignoring case; a star stands for any characters, anywhere in a name. */
export function toolFinder(all: readonly { order: number; glob: string }[]) {
  const exact = new Map<string, number>();
  const globs: typeof all = all
    .filter(({ glob }) => glob.includes("*"))
    .map(({ order, glob }) => ({ order, glob: glob.toLowerCase() }));
  for (const { order, glob } of all) {
    const name = glob.toLowerCase();
    if (!name.includes("*")) exact.set(name, firstOf([exact.get(name), order]) ?? order);
  }
  return (toolName: string): number | undefined => {
    if (toolName.length > MAX_NAME) return undefined;
    const names = [toolName, ALSO_NAMED.get(toolName) ?? toolName].map((name) => name.toLowerCase());
    const found = names.map((name) => exact.get(name));
    for (const { order, glob } of globs) if (names.some((name) => matchesText(glob, name))) found.push(order);
    return firstOf(found);
  };
}

/** Whether a name stands for this MCP tool: it is `mcp__server__tool`, or a form of `McpTools`. */
export function namesMcpTool(name: string, toolName: string): boolean {
  if (name === toolName) return true;
  const { server, start } = readMcpTools(name) ?? {};
  if (server === undefined) return false;
  // With three underscores the server is ambiguous: `mcp__a___x` could belong to `a` or to `a_`.
  const prefix = `mcp__${server}__${start ?? ""}`;
  return (
    !toolName.includes("___") &&
    toolName.startsWith(prefix) &&
    !toolName.slice(`mcp__${server}__`.length).includes("__")
  );
}

/** `mcp__server` and `mcp__server__*` for all tools of a server, `mcp__server__get_*` for some. */
type McpTools = { server: string; start: string | undefined };

export function readMcpTools(name: string): McpTools | undefined {
  const [, server = "", start] = /^mcp__([^*]+?)(?:__([^*]*)\*)?$/.exec(name) ?? [];
  return server === "" || server.includes("__") ? undefined : { server, start };
}

/** Tools without an entry in TOOL_KEYS whose calls only read. */
const KNOWN = ["WebSearch"];

/** The tools that a star may stand for, except those of MCP servers. */
export function knownTools(glob: string): string[] {
  return [...Object.keys(TOOL_KEYS), ...KNOWN].filter((name) => matchesText(glob, name));
}

/** Covers tools by name. A star covers only known tools, and MCP tools only if it names the server. */
export function toolProver(all: readonly { order: number; glob: string }[]) {
  const exact = new Map<string, number>();
  const globs = all.filter(({ glob }) => glob.includes("*"));
  for (const { order, glob } of all) if (!glob.includes("*") && !exact.has(glob)) exact.set(glob, order);
  return (toolName: string): number | undefined => {
    if (toolName.length > MAX_NAME) return undefined;
    const named = exact.get(toolName) ?? (EDITORS.includes(toolName) ? exact.get("Edit") : undefined);
    if (named !== undefined) return named;
    if (toolName.startsWith("mcp__")) return globs.find(({ glob }) => namesMcpTool(glob, toolName))?.order;
    const isKnown = Object.hasOwn(TOOL_KEYS, toolName) || KNOWN.includes(toolName);
    return isKnown ? globs.find(({ glob }) => matchesText(glob, toolName))?.order : undefined;
  };
}
