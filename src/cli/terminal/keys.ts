export const CTRL_C = "\u0003";
const CTRL_U = "\u0015";
export const ESCAPE = "\u001b";
export const ENTER = ["\r", "\n"];
const BACKSPACE = ["\u007f", "\b"];

/** An arrow or a function key is one key, of which no part is meant as a letter. */
const KEYS = new RegExp(`${ESCAPE}(?:\\[[\\d;?]*[@-~]|O[@-~])|.`, "gsu");

/** What was typed, key by key. */
export function keysIn(typed: string): string[] {
  return typed.match(KEYS) ?? [];
}

/** A line with one more key typed; `undefined` when it is given up. */
export function editedLine(line: string, key: string): string | undefined {
  if (key === ESCAPE) return undefined;
  if (key === CTRL_U) return "";
  if (BACKSPACE.includes(key)) return Array.from(line).slice(0, -1).join("");
  return key < " " ? line : line + key;
}
