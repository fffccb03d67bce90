import { UNPRINTABLE } from "../../contract/text/unprintable.ts";
import type { Terminal } from "./terminal.ts";

/** The text on one line, with every invisible character made visible. */
export function printable(text: string): string {
  return text.replaceAll("\n", "\\n").replace(UNPRINTABLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** The text with its line breaks, tabs and emoji; every other invisible character is made visible. */
export function printableText(text: string): string {
  return text
    .split(HARMLESS)
    .map((part, index) => (index % 2 === 1 ? part : part.split("\n").map(printable).join("\n")))
    .join("");
}

/** A tab, and the characters that join and color the parts of an emoji. */
const HARMLESS = /(\t|(?<=\p{Emoji})\ufe0f|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic}))/u;

/** One JSON value on one line, safe to print on a terminal. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNPRINTABLE, escaped)}\n`;
}

/** JSON that is safe to print: indented for a person, on one line for a program. */
export function jsonText(value: unknown, terminal: Terminal): string {
  const text = JSON.stringify(value, null, terminal.isInteractive ? 2 : undefined);
  return `${text.replace(UNPRINTABLE, escaped)}\n`;
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => {
    return `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  }).join("");
}
