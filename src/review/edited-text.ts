import type { FileEdit } from "./kinds.ts";

/** Edits that follow each other can make any file out of a short one. */
const MAX_EDITED_CHARS = 4_000_000;
/** By so much of its beginning Claude Code tells the line ends of a file. */
const LINE_ENDS_TOLD_BY = 4_096;

/** What a file holds once it is edited; `unknown` where Claude Code may find the text in another way, or none of it. */
export type EditedText = { state: "text"; text: string } | { state: "unknown" | "too_long" };

/** What Claude Code's Edit makes of a file, as far as `tests/e2e/edits.test.ts` has measured it. */
export function editedText(text: string, edits: FileEdit[]): EditedText {
  let result = text.replaceAll("\r\n", "\n");
  for (const edit of edits) {
    const replaced = replacedIn(result, edit);
    if (replaced.state !== "text") return replaced;
    result = replaced.text;
  }
  // It writes all line ends alike.
  return { state: "text", text: hasCrlf(text) ? result.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : result };
}

function replacedIn(text: string, { before, after, everywhere }: FileEdit): EditedText {
  if (before === "") return text.trim() === "" ? { state: "text", text: after } : { state: "unknown" };
  const found = asWritten(text, before);
  const times = found === undefined ? 0 : countOf(found, text);
  if (found === undefined || (times > 1 && !everywhere)) return { state: "unknown" };
  // Of what is deleted, the end of its line goes too.
  const removed = after === "" && !found.endsWith("\n") && text.includes(`${found}\n`) ? `${found}\n` : found;
  const put = found === before ? after : quotedAs(found, after);
  // Before it is replaced: the result could be larger than the memory.
  if (text.length + times * (put.length - removed.length) > MAX_EDITED_CHARS) return { state: "too_long" };
  return { state: "text", text: everywhere ? text.replaceAll(removed, () => put) : text.replace(removed, () => put) };
}

/** How a text stands in a file: as it is given, or with other quotes. */
function asWritten(text: string, given: string): string | undefined {
  if (text.includes(given)) return given;
  const at = straight(text).indexOf(straight(given));
  return at < 0 ? undefined : text.slice(at, at + given.length);
}

function straight(text: string): string {
  return text.replace(/[‘’]/g, "'").replace(/[“”]/g, '"');
}

/** The new text with curly quotes, of the kinds that the replaced text has. */
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
