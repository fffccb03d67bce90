import { oneLine } from "../../contract/text/one-line.ts";

const MAX_NAMED = 3;
const MAX_CHARS = 60;

/** Quotes the first few texts and counts the rest. */
export function namedList(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_NAMED).map((text) => JSON.stringify(oneLine(text, MAX_CHARS)));
  const more = texts.length > MAX_NAMED ? ` and ${texts.length - MAX_NAMED} more` : "";
  return `${named.join(", ")}${more}`;
}
