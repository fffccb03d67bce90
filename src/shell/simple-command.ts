import type { Command, Redirection, WordPart, Word as WordSyntax } from "unbash";
import type { Assignment, Redirect, SimpleCommand, Word } from "./reading.ts";

export function simpleCommand(command: Command): Omit<SimpleCommand, "isFed" | "isSubstituted"> {
  const words = [command.name, ...command.args].flatMap((argument) => {
    if (argument === undefined) return [];
    if (argument.type === "Word") return [toWord(argument)];
    // An argument like `FOO=1` of `env` or `export`.
    const value = argument.value.type === "Word" ? toWord(argument.value).value : "";
    const isDynamic = argument.value.type !== "Word" || isDynamicWord(argument.value);
    return [
      { text: argument.text, value: `${argument.name}=${value}`, isDynamic, pos: argument.pos, end: argument.end },
    ];
  });
  return { words, assignments: command.prefix.flatMap(toAssignment), redirects: command.redirects.map(toRedirect) };
}

export function toWord(word: WordSyntax): Word {
  return { text: word.text, value: word.value, isDynamic: isDynamicWord(word), pos: word.pos, end: word.end };
}

function toAssignment(prefix: Command["prefix"][number]): Assignment[] {
  if (prefix.type !== "Assignment") return [];
  return [{ name: prefix.name, value: prefix.value.type === "Word" ? toWord(prefix.value) : undefined }];
}

function toRedirect(redirection: Redirection): Redirect {
  const target = redirection.type === "HereDoc" ? undefined : redirection.target && toWord(redirection.target);
  // `2>&1` and `>&-` name a descriptor, not a file.
  const isDuplicate = redirection.operator.endsWith("&") && /^(\d+-?|-)$/.test(target?.value ?? "");
  const writes = redirection.operator.includes(">") && !isDuplicate;
  return { operator: redirection.operator, writes, target: isDuplicate ? undefined : target };
}

/** Whether what the shell makes of it depends on more than its text; a leading tilde apart. */
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
