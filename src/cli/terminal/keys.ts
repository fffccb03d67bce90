export const CTRL_C = "\u0003";
const CTRL_U = "\u0015";
export const ESCAPE = "\u001b";
export const ENTER = ["\r", "\n"];
const BACKSPACE = ["\u007f", "\b"];

/** An arrow or function key is one key. None of its characters counts as a letter. */
const KEYS = new RegExp(`${ESCAPE}(?:\\[[\\d;?]*[@-~]|O[@-~])|.`, "gsu");

/** Splits typed text into keys. */
export function keysIn(typed: string): string[] {
  return typed.match(KEYS) ?? [];
}

/** The line after one more key; `undefined` if Escape ends the editing. */
export function editedLine(line: string, key: string): string | undefined {
  if (key === ESCAPE) return undefined;
  if (key === CTRL_U) return "";
  if (BACKSPACE.includes(key)) return Array.from(line).slice(0, -1).join("");
  return key < " " ? line : line + key;
}
