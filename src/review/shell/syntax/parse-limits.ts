/** A person could not review a longer command. */
export const MAX_COMMAND_CHARS = 32_768;
const MAX_DEPTH = 60;
const MAX_HERE_DOCUMENTS = 1_000;

/** Returns why a text is not parsed, if parsing it would take too long. */
export function limitExceededBy(source: string): string | undefined {
  if (source.length > MAX_COMMAND_CHARS) return `is too long to check (${source.length} characters)`;
  if (source.split("<<").length > MAX_HERE_DOCUMENTS) return "has too many here-documents to check";
  let depth = 0;
  for (const character of source) {
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
    if (depth > MAX_DEPTH) return "is nested too deeply to check";
  }
  return undefined;
}
