import type { FileEdit } from "./kinds.ts";

/** A limit, because successive edits can turn a short file into one of any size. */
const MAX_EDITED_CHARS = 4_000_000;
/** Claude Code detects a file's line ends from this many characters at its beginning. */
const LINE_ENDS_TOLD_BY = 4_096;

/** The text of an edited file; `unknown` if Claude Code may match the text differently, or not at all. */
export type EditedText = { state: "text"; text: string } | { state: "unknown" | "too_long" };

/** Returns the result of Claude Code's Edit on a file, as far as `tests/e2e/edits.test.ts` has measured it. */
export function editedText(text: string, edits: FileEdit[]): EditedText {
  let result = text.replaceAll("\r\n", "\n");
  for (const edit of edits) {
    const replaced = replacedIn(result, edit);
    if (replaced.state !== "text") return replaced;
    result = replaced.text;
  }
  // Claude Code writes all line ends in the same style.
  return { state: "text", text: hasCrlf(text) ? result.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : result };
}

function replacedIn(text: string, { before, after, everywhere }: FileEdit): EditedText {
  if (before === "") return text.trim() === "" ? { state: "text", text: after } : { state: "unknown" };
  const found = asWritten(text, before);
  const times = found === undefined ? 0 : countOf(found, text);
  if (found === undefined || (times > 1 && !everywhere)) return { state: "unknown" };
  // A deletion also removes the line's end.
  const removed = after === "" && !found.endsWith("\n") && text.includes(`${found}\n`) ? `${found}\n` : found;
  const put = found === before ? after : quotedAs(found, after);
  // Check before replacing: the result could exceed the memory.
  if (text.length + times * (put.length - removed.length) > MAX_EDITED_CHARS) return { state: "too_long" };
  return { state: "text", text: everywhere ? text.replaceAll(removed, () => put) : text.replace(removed, () => put) };
}

/** Returns the text as the file has it: exactly as given, or with other quotes. */
function asWritten(text: string, given: string): string | undefined {
  if (text.includes(given)) return given;
  const at = straight(text).indexOf(straight(given));
  return at < 0 ? undefined : text.slice(at, at + given.length);
}

function straight(text: string): string {
  return text.replace(/[‘’]/g, "'").replace(/[“”]/g, '"');
}

/** Returns the new text with the kinds of curly quotes that the replaced text has. */
function quotedAs(replaced: string, text: string): string {
  let quoted = text;
  if (/[“”]/.test(replaced)) quoted = quoted.replace(/"/g, (_, at: number) => (opensAt(text, at) ? "“" : "”"));
  if (/[‘’]/.test(replaced)) quoted = quoted.replace(/'/g, (_, at: number) => (opensAt(text, at) ? "‘" : "’"));
  return quoted;
}

function opensAt(text: string, at: number): boolean {
  return at === 0 || /[ \t\n\r([{—–]/.test(text[at - 1] ?? "");
}

function hasCrlf(text: string): boolean {
  const beginning = text.slice(0, LINE_ENDS_TOLD_BY);
  const crlf = countOf("\r\n", beginning);
  return crlf > countOf("\n", beginning) - crlf;
}

export function countOf(part: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}
