import { parse, stringify, TomlError } from "smol-toml";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { type ConfigFormat, Unreadable } from "./config-format.ts";

/** TOML in which our entry is a table of its own. All other lines of the file stay the same. */
export function tomlFormat(path: [string, string]): ConfigFormat {
  const alone = (entry: JsonObject) => stringify({ [path[0]]: { [path[1]]: entry } });

  function change(text: string, entry: JsonObject | undefined): string {
    const { before, after } = around(text, path);
    const parts = [before.trimEnd(), entry ? alone(entry).trim() : "", after.trim()].filter(Boolean);
    const changed = parts.length === 0 ? "" : `${parts.join("\n\n")}\n`;
    // Check the result by parsing it: TOML has more ways to write an entry than this function handles.
    if (!isSame(changed, replaced(parsed(text), path, entry)))
      throw new Unreadable("is written in a way that can't be changed safely");
    return changed;
  }

  return {
    entryIn(text) {
      const entry = sectionOf(parsed(text), path[0])[path[1]];
      return isJsonObject(entry) ? entry : undefined;
    },
    withEntry: change,
    withoutEntry: (text) => change(text, undefined),
    alone,
  };
}

/** The text before and after the tables of our entry. Comments above the next table belong to that table. */
function around(text: string, path: [string, string]): { before: string; after: string } {
  const lines = text.split("\n");
  const isOurs = (line: string) => headerOf(line)?.slice(0, 2).join("\0") === path.join("\0");
  const from = lines.findIndex(isOurs);
  if (from < 0) return { before: text, after: "" };
  const next = lines.findIndex((line, at) => at > from && headerOf(line) !== undefined && !isOurs(line));
  let end = next < 0 ? lines.length : next;
  while (next >= 0 && /^\s*(#.*)?$/.test(lines[end - 1] ?? "")) end--;
  return { before: lines.slice(0, from).join("\n"), after: lines.slice(end).join("\n") };
}

/** The keys in the header line of a table. */
function headerOf(line: string): string[] | undefined {
  const keys = /^\s*\[\[?([^[\]]*)\]\]?\s*(#.*)?$/.exec(line)?.[1];
  return keys?.match(/"[^"]*"|'[^']*'|[^\s."']+/g)?.map((key) => key.replaceAll(/^["']|["']$/g, ""));
}

function isSame(text: string, meant: JsonObject): boolean {
  try {
    return Bun.deepEquals(parse(text), meant);
  } catch {
    return false;
  }
}

function parsed(text: string): JsonObject {
  try {
    return parse(text);
  } catch (cause) {
    if (cause instanceof TomlError) throw new Unreadable(`is not valid TOML (line ${cause.line})`);
    throw cause;
  }
}

function replaced(whole: JsonObject, [section, name]: [string, string], entry: JsonObject | undefined): JsonObject {
  const { [name]: _, ...others } = sectionOf(whole, section);
  const servers = entry ? { ...others, [name]: entry } : others;
  const { [section]: __, ...rest } = whole;
  return Object.keys(servers).length === 0 ? rest : { ...rest, [section]: servers };
}

function sectionOf(whole: JsonObject, section: string): JsonObject {
  const found = whole[section] ?? {};
  if (isJsonObject(found)) return found;
  throw new Unreadable(`has no table for "${section}"`);
}
