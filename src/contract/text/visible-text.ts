import { UNPRINTABLE } from "./unprintable.ts";

const NAMES: Record<string, string> = {
  "\u0000": "NUL",
  "\u0007": "BEL",
  "\b": "BS",
  "\r": "CR",
  "\u001b": "ESC",
  "\u007f": "DEL",
};

/** Returns the name of an invisible character. */
export function characterName(character: string): string {
  return NAMES[character] ?? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Replaces each invisible character by its name, for titles and labels, which are plain text. */
export function visibleText(text: string): string {
  return text.replace(UNPRINTABLE, named);
}

/** The same for longer texts, keeping tabs. */
export function visibleLines(text: string): string {
  return text.replace(UNPRINTABLE, (one) => (one === "\t" ? one : named(one)));
}

function named(character: string): string {
  return `\u27e6${characterName(character)}\u27e7`;
}
