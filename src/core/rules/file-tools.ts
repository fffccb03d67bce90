import type { Found } from "../../files/real-path.ts";
import type { ReadableFiles } from "./readable-files.ts";
import type { ToolCall } from "./tool-call.ts";
import { hasKnownKeys, textAt } from "./tool-keys.ts";
import { EDITORS, SEARCHERS } from "./tool-kinds.ts";

/** Whether the tool reads, searches or edits files that its input names. */
export function touchesFiles({ toolName }: ToolCall): boolean {
  return toolName === "Read" || SEARCHERS.includes(toolName) || EDITORS.includes(toolName);
}

/** Whether a call of a file tool is proven to reach nothing private. */
export function avoidsPrivate(call: ToolCall, files: ReadableFiles): boolean {
  const isSearch = SEARCHERS.includes(call.toolName);
  const found = isSearch ? searchRoot(call, files) : fileOf(call, files);
  return found !== undefined && !files.isPrivate(found) && !(isSearch && files.holdsPrivate(found));
}

/** The file that a call would read or write. */
export function fileOf({ toolName, input }: ToolCall, files: ReadableFiles): Found | undefined {
  if (!hasKnownKeys(toolName, input)) return undefined;
  const path = textAt(input, toolName === "NotebookEdit" ? "notebook_path" : "file_path");
  return path === undefined ? undefined : files.find(path, files.start);
}

/** The directory or file where a search starts; `undefined` if the search could leave it. */
export function searchRoot({ toolName, input }: ToolCall, files: ReadableFiles): Found | undefined {
  if (!hasKnownKeys(toolName, input)) return undefined;
  const staysBelow = toolName === "Glob" ? isGlobBelow(textAt(input, "pattern") ?? "/") : isFilterPlain(input);
  if (!staysBelow) return undefined;
  const path = textAt(input, "path");
  return path === undefined ? files.find(files.start, "/") : files.find(path, files.start);
}

const ALTERNATIVES = /\{[A-Za-z0-9][\w-]*(?:\.[\w-]+)*(?:,[A-Za-z0-9][\w-]*(?:\.[\w-]+)*)*\}/g;

/** Accepts names, `*`, `?` and plain alternatives: nothing that is absolute or leads upward. */
function isGlobBelow(pattern: string): boolean {
  const names = pattern.replaceAll(ALTERNATIVES, "x").split("/");
  return names.every((name) => /^[\w.*?@ +-]+$/.test(name) && !name.includes("..") && !/^\.[*?]*$/.test(name));
}

/** Checks the arguments that ripgrep gets besides the pattern. */
function isFilterPlain(input: ToolCall["input"]): boolean {
  const glob = textAt(input, "glob") ?? "*";
  const type = textAt(input, "type") ?? "js";
  return (
    /^[\w.*?{},/@+!-]+$/.test(glob) && !glob.startsWith("-") && !glob.includes("..") && /^[a-z][a-z0-9]*$/.test(type)
  );
}
