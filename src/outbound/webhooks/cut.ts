import { cutText } from "../../contract/text/cut-text.ts";

/** Below this length, only the beginning is kept instead of head and tail. */
const LEAST_CUT = 120;

/** The longest cut of the text whose written form fits into `limit`. */
export function cutWritten(text: string, limit: number, write: (text: string) => string, size = lengthOf): string {
  const whole = write(text);
  if (size(whole) <= limit) return whole;
  for (let longest = Math.min(text.length, limit); longest >= 1; longest = Math.floor(longest * 0.8)) {
    const cut = write(longest >= LEAST_CUT ? cutText(text, longest) : `${text.slice(0, longest - 1).toWellFormed()}…`);
    if (size(cut) <= limit) return cut;
  }
  return "";
}

function lengthOf(text: string): number {
  return text.length;
}
