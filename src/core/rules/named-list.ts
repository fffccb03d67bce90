import { oneLine } from "../../contract/text/one-line.ts";

const MAX_NAMED = 3;
const MAX_CHARS = 60;

/** The first of some texts in quotes, and how many there are besides. */
export function namedList(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_NAMED).map((text) => JSON.stringify(oneLine(text, MAX_CHARS)));
  const more = texts.length > MAX_NAMED ? ` and ${texts.length - MAX_NAMED} more` : "";
  return `${named.join(", ")}${more}`;
}
