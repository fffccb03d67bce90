import { UNPRINTABLE } from "./unprintable.ts";

const HEAD_SHARE = 0.7;
const BETWEEN = " … ";

/** Formats a text as one line of at most `limit` characters: its beginning, and its end if it is longer. */
export function oneLine(text: string, limit: number): string {
  // Process only the parts that could be shown: a result may be megabytes.
  const head = flat(text.slice(0, 4 * limit));
  if (text.length <= 4 * limit && head.length <= limit) return head;
  const before = Math.floor(limit * HEAD_SHARE);
  const tail = flat(text.slice(-4 * limit)).slice(before + BETWEEN.length - limit);
  return `${head.slice(0, before)}${BETWEEN}${tail}`.toWellFormed().trim();
}

function flat(text: string): string {
  return text.toWellFormed().replaceAll(/\s+/g, " ").replaceAll(UNPRINTABLE, "").trim();
}
