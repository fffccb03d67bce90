import type { Terminal } from "./terminal.ts";

/** Characters that could move the cursor, change colours, reorder text or hide in it; line breaks apart. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** The text on one line, with every character that would not show made visible. */
export function printable(text: string): string {
  return text.replaceAll("\n", "\\n").replace(UNPRINTABLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** JSON that is as safe to look at as it is to parse: indented for a person, on one line for a program. */
export function jsonText(value: unknown, terminal: Terminal): string {
  const text = JSON.stringify(value, null, terminal.isInteractive ? 2 : undefined);
  return `${text.replace(UNPRINTABLE, escaped)}\n`;
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => {
    return `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  }).join("");
}
