import type { Found } from "../../../files/real-path.ts";
import { hasKnownKeys, textAt } from "../allowed-tools/tool-keys.ts";
import type { Ground } from "../ground.ts";
import type { ToolCall } from "../place.ts";

/** The file that a call would read or write. */
export function fileOf({ toolName, input }: ToolCall, ground: Ground): Found | undefined {
  if (!hasKnownKeys(toolName, input)) return undefined;
  const path = textAt(input, toolName === "NotebookEdit" ? "notebook_path" : "file_path");
  return path === undefined ? undefined : ground.look(path, ground.start);
}

/** Where a search begins, if all that it asks for is known to stay below that. */
export function searchRoot({ toolName, input }: ToolCall, ground: Ground): Found | undefined {
  if (!hasKnownKeys(toolName, input)) return undefined;
  const staysBelow = toolName === "Glob" ? isGlobBelow(textAt(input, "pattern") ?? "/") : isFilterPlain(input);
  if (!staysBelow) return undefined;
  const path = textAt(input, "path");
  return path === undefined ? ground.look(ground.start, "/") : ground.look(path, ground.start);
}

const ALTERNATIVES = /\{[A-Za-z0-9][\w-]*(?:\.[\w-]+)*(?:,[A-Za-z0-9][\w-]*(?:\.[\w-]+)*)*\}/g;

/** Names, `*`, `?` and plain alternatives: nothing that begins or leads elsewhere. */
function isGlobBelow(pattern: string): boolean {
  const names = pattern.replaceAll(ALTERNATIVES, "x").split("/");
  return names.every((name) => /^[\w.*?@ +-]+$/.test(name) && !name.includes("..") && !/^\.[*?]*$/.test(name));
}

/** What ripgrep is handed beside the pattern. */
function isFilterPlain(input: ToolCall["input"]): boolean {
  const glob = textAt(input, "glob") ?? "*";
  const type = textAt(input, "type") ?? "js";
  return (
    /^[\w.*?{},/@+!-]+$/.test(glob) && !glob.startsWith("-") && !glob.includes("..") && /^[a-z][a-z0-9]*$/.test(type)
  );
}
