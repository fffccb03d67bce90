import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { type ConfigFormat, Unreadable } from "./config-format.ts";

type Path = [section: string, name: string];

/** JSON with comments and trailing commas, as editors write it. The path leads to our entry. */
export function jsonFormat(path: Path): ConfigFormat {
  return {
    entryIn(text) {
      if (text.trim() === "") return undefined;
      const node = findNodeAtLocation(treeOf(text, path), path);
      const entry: unknown = node && getNodeValue(node);
      return isJsonObject(entry) ? entry : undefined;
    },
    withEntry: (text, entry) => withEntry(text.trim() === "" ? "{}\n" : text, path, entry),
    withoutEntry: (text) => emptied(applyEdits(text, modify(text, path, undefined, {})), path),
    alone: (entry) => `${JSON.stringify({ [path[0]]: { [path[1]]: entry } }, null, 2)}\n`,
  };
}

/** Parses the file. Throws if there is no place for an entry in it. */
function treeOf(text: string, [section]: Path): Node {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new Unreadable(`is not valid JSON (${printParseErrorCode(error.error)} in line ${line})`);
  }
  const within = tree && findNodeAtLocation(tree, [section]);
  if (tree?.type !== "object" || (within && within.type !== "object")) {
    throw new Unreadable(`has no object for "${section}"`);
  }
  return tree;
}

/** Adds the entry in the file's own layout. The library's formatting would also change the lines around it. */
function withEntry(text: string, path: Path, entry: JsonObject): string {
  const [section, name] = path;
  const hasSection = findNodeAtLocation(treeOf(text, path), [section]) !== undefined;
  const [level, key, value] = hasSection ? [2, name, entry] : [1, section, { [name]: entry }];
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const laidOut = JSON.stringify(value, null, indent).replaceAll("\n", `${eol}${indent.repeat(level)}`);
  const start = `${eol}${indent.repeat(level)}${JSON.stringify(key)}: `;
  const edits = modify(text, hasSection ? path : [section], value, {}).map(({ content, ...place }): Edit => {
    if (content.startsWith("{")) return { ...place, content: laidOut };
    if (content.startsWith(",")) return { ...place, content: `,${start}${laidOut}` };
    return { ...place, content: `${start}${laidOut}${eol}${indent.repeat(level - 1)}` };
  });
  return applyEdits(text, edits);
}

/** Restores `{}` for an object that contained only our entry. */
function emptied(text: string, path: Path): string {
  const section = findNodeAtLocation(treeOf(text, path), [path[0]]);
  if (!section) return text;
  const { offset, length } = section;
  const isBare = /^\{\s*\}$/.test(text.slice(offset, offset + length));
  return isBare ? `${text.slice(0, offset)}{}${text.slice(offset + length)}` : text;
}
