import { cutText } from "../../contract/text/cut.ts";
import type { Storage } from "../../storage/storage.ts";
import type { EventWords } from "../../storage/turns.ts";

/** Most turns end with words, which the first page holds; a long one is for a child that worked on in silence. */
const FIRST_PAGE = 20;
const PAGE = 500;
/** So far back the last words are looked for, and so many characters of them are read. */
const MAX_EVENTS = 10_000;
const MAX_READ_CHARS = 1_000_000;

/**
 * The last thing that the child has said in a turn, in head and tail where that is long; not all its words. A message
 * ends where the child was told something: the result of a call, a word of its user, or that work in the background is over.
 */
export async function lastMessage(
  storage: { turns: Pick<Storage["turns"], "wordsBefore"> },
  turnId: string,
  maxChars: number,
): Promise<string> {
  const texts: string[] = [];
  let chars = 0;
  let before = Number.MAX_SAFE_INTEGER;
  for (let seen = 0; seen < MAX_EVENTS; ) {
    const page = await storage.turns.wordsBefore(turnId, before, seen === 0 ? FIRST_PAGE : PAGE);
    for (const event of page) {
      if (endsMessage(event) && chars > 0) return said(texts, maxChars);
      if (event.text === null) continue;
      texts.push(event.text);
      chars += event.text.length;
      if (chars > MAX_READ_CHARS) return said(texts, maxChars);
    }
    const oldest = page.at(-1);
    if (oldest === undefined || oldest.seq === 0) break;
    seen += page.length;
    before = oldest.seq;
  }
  return said(texts, maxChars);
}

function endsMessage({ type, beginsAnew }: EventWords): boolean {
  return type === "tool_result" || beginsAnew;
}

function said(newestFirst: string[], maxChars: number): string {
  return cutText(newestFirst.reverse().join(""), maxChars);
}
