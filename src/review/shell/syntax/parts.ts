import { forEachChild, type SyntaxNode } from "unbash";
import { outsideWords } from "../command-paths.ts";
import { type Links, NO_LINKS } from "../paths/links.ts";
import type { ParsedCommand } from "./parsed-command.ts";

/** The roles of a command's parts, for highlighting. */
const ROLES = [
  "gap",
  "operator",
  "keyword",
  "comment",
  "program",
  "option",
  "word",
  "string",
  "variable",
  "assignment",
  "redirect",
  "substitution",
] as const;
export type Role = (typeof ROLES)[number];
type Part = { text: string; role: Role; isOutside: boolean };

const UNPAINTED = 255;
const KEYWORDS = /\b(if|then|elif|else|fi|for|in|do|done|while|until|case|esac|select|function|time|coproc)\b/g;

/** Splits the whole text of a command into parts with their roles, in order. */
export function partsOf(parsed: ParsedCommand, workingDir: string | null, links: Links = NO_LINKS): Part[] {
  const { source, tree } = parsed;
  if (!tree) return [{ text: source, role: "word", isOutside: false }];
  const roles = new Uint8Array(source.length).fill(UNPAINTED);
  paint(tree, roles);
  paintRest(source, roles);
  const outside = new Uint8Array(source.length);
  for (const { pos, end } of outsideWords(parsed, workingDir, links)) outside.fill(1, pos, end);
  const parts: Part[] = [];
  for (let from = 0; from < source.length; ) {
    let end = from + 1;
    while (end < source.length && roles[end] === roles[from] && outside[end] === outside[from]) end++;
    const role = ROLES[roles[from] ?? 0] ?? "gap";
    parts.push({ text: source.slice(from, end), role, isOutside: outside[from] === 1 });
    from = end;
  }
  return parts;
}

/** Paints outer nodes first, and inner ones over them. */
function paint(root: SyntaxNode, roles: Uint8Array): void {
  const waiting: SyntaxNode[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const role = roleOf(node);
    if (role) roles.fill(ROLES.indexOf(role), node.pos, node.end);
    if (node.type === "Command" && node.name) roles.fill(ROLES.indexOf("program"), node.name.pos, node.name.end);
    // Positions inside escaped backquotes do not refer to this source.
    if (node.type === "Script" && node.source !== undefined) continue;
    const isNamed = node.type === "Command" ? node.name : undefined;
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => {
      if (child !== isNamed || (child.type === "Word" && child.parts)) children.push(child);
    });
    for (const child of children.reverse()) waiting.push(child);
  }
}

function roleOf(node: SyntaxNode): Role | undefined {
  switch (node.type) {
    case "Word":
      return node.value.startsWith("-") ? "option" : "word";
    case "SingleQuoted":
    case "DoubleQuoted":
    case "AnsiCQuoted":
    case "LocaleString":
    case "HereDocBody":
      return "string";
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "ArithmeticExpansion":
      return "variable";
    case "CommandExpansion":
    case "ProcessSubstitution":
      return "substitution";
    case "Assignment":
      return "assignment";
    case "Redirect":
    case "HereString":
    case "HereDoc":
      return "redirect";
    default:
      return undefined;
  }
}

/** Paints what belongs to no node: operators, keywords, comments and space. */
function paintRest(source: string, roles: Uint8Array): void {
  for (let at = 0; at < source.length; at++) {
    if (roles[at] !== UNPAINTED) continue;
    let end = at;
    while (end < source.length && roles[end] === UNPAINTED) end++;
    paintBetween(source, roles, at, end);
    at = end;
  }
}

function paintBetween(source: string, roles: Uint8Array, from: number, end: number): void {
  const text = source.slice(from, end);
  for (let at = from; at < end; at++) {
    roles[at] = ROLES.indexOf(/\s/.test(source[at] ?? "") ? "gap" : "operator");
  }
  for (const match of text.matchAll(KEYWORDS)) {
    roles.fill(ROLES.indexOf("keyword"), from + match.index, from + match.index + match[0].length);
  }
  for (const match of text.matchAll(/(^|\s)#.*/g)) {
    roles.fill(ROLES.indexOf("comment"), from + match.index, from + match.index + match[0].length);
  }
}
