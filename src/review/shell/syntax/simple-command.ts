import type { Command, HereDoc, Redirection, WordPart, Word as WordSyntax } from "unbash";
import { expandedBraces } from "./braces.ts";
import type { Assignment, Redirect, SimpleCommand, Word } from "./parsed-command.ts";

export function simpleCommand(command: Command): Omit<SimpleCommand, "hasInput" | "isSubstituted" | "isBackground"> {
  const words = [command.name, ...command.args].flatMap((argument) => {
    if (argument === undefined) return [];
    if (argument.type === "Word") return toWords(argument);
    // An argument like `FOO=1` of `env` or `export`.
    const value = argument.value.type === "Word" ? toWord(argument.value).value : "";
    const isDynamic = argument.value.type !== "Word" || isDynamicWord(argument.value);
    return [
      { text: argument.text, value: `${argument.name}=${value}`, isDynamic, pos: argument.pos, end: argument.end },
    ];
  });
  return { words, assignments: command.prefix.flatMap(toAssignment), redirects: command.redirects.map(toRedirect) };
}

/** Returns the word, or the words that its braces expand to. */
function toWords(word: WordSyntax): Word[] {
  const whole = toWord(word);
  if (!word.parts?.some(({ type }) => type === "BraceExpansion")) return [whole];
  const values = expandedBraces(word.text);
  return values ? values.map((value) => ({ ...whole, value, isDynamic: /[$`*?[]/.test(word.text) })) : [whole];
}

function toWord(word: WordSyntax): Word {
  return { text: word.text, value: word.value, isDynamic: isDynamicWord(word), pos: word.pos, end: word.end };
}

function toAssignment(prefix: Command["prefix"][number]): Assignment[] {
  if (prefix.type !== "Assignment") return [];
  return [{ name: prefix.name, value: prefix.value.type === "Word" ? toWord(prefix.value) : undefined }];
}

export function toRedirect(redirection: Redirection): Redirect {
  const target = redirection.type === "HereDoc" ? undefined : redirection.target && toWord(redirection.target);
  const body =
    redirection.type === "HereDoc" ? hereDocument(redirection) : redirection.type === "HereString" ? target : undefined;
  // `2>&1` and `>&-` name a descriptor, not a file.
  const isDuplicate = redirection.operator.endsWith("&") && /^(\d+-?|-)$/.test(target?.value ?? "");
  const writes = redirection.operator.includes(">") && !isDuplicate;
  return {
    descriptor: descriptorText(redirection.descriptor),
    operator: redirection.operator,
    duplicates: isDuplicate ? (target?.text ?? "") : "",
    writes,
    target: isDuplicate ? undefined : target,
    body,
  };
}

function descriptorText(descriptor: Redirection["descriptor"]): string {
  if (!descriptor) return "";
  return descriptor.type === "FileDescriptor" ? String(descriptor.value) : `{${descriptor.name}}`;
}

function hereDocument({ body, delimiter }: HereDoc): Word {
  const { text, pos, end } = body;
  return { text, value: text, isDynamic: !delimiter?.quoted && (body.parts ?? []).some(isDynamicPart), pos, end };
}

/** Whether its value depends on more than its text; a leading tilde doesn't count. */
function isDynamicWord(word: WordSyntax): boolean {
  return (word.parts ?? []).some(isDynamicPart);
}

function isDynamicPart(part: WordPart): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return false;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.some(isDynamicPart);
    default:
      return true;
  }
}
