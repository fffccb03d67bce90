/** How much of a text is shown around a match. */
const BEFORE_CHARS = 60;
const AFTER_CHARS = 140;
/** What is looked at of it: white space takes room that it does not need. */
const ROOM = 4;

/** Finds a literal text, in any case, in the first of the given texts that has it; returns what stands around it. */
export function createMatcher(search: string): (texts: Iterable<string>) => string | undefined {
  const wanted = search.toLowerCase();
  return (texts) => {
    for (const text of texts) {
      const at = text.toLowerCase().indexOf(wanted);
      if (at >= 0) return excerpt(text, at, search.length);
    }
    return undefined;
  };
}

function excerpt(text: string, at: number, length: number): string {
  const before = flat(text.slice(Math.max(0, at - ROOM * BEFORE_CHARS), at));
  const rest = flat(text.slice(at, at + length + ROOM * AFTER_CHARS));
  const isCutBefore = before.length > BEFORE_CHARS || at > ROOM * BEFORE_CHARS;
  const shown = rest.slice(0, length + AFTER_CHARS);
  const isCutAfter = shown.length < rest.length || at + length + ROOM * AFTER_CHARS < text.length;
  return `${isCutBefore ? "…" : ""}${before.slice(-BEFORE_CHARS)}${shown}${isCutAfter ? "…" : ""}`.toWellFormed();
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
