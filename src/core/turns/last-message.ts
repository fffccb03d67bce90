import { cutText } from "../../contract/text/cut-text.ts";
import type { Storage } from "../../storage/storage.ts";
import type { EventWords } from "../../storage/turns.ts";

/**
 * Most turns end with text, which the first page has. Further pages serve children that called tools for long without a
 * word.
 */
const FIRST_PAGE = 20;
const PAGE = 500;
/** How many events are searched, and how many characters are read. */
const MAX_EVENTS = 10_000;
const MAX_READ_CHARS = 1_000_000;

/**
 * The child's last message in a turn, cut to head and tail if it is long. A message starts after the result of a call,
 * a message of the user, or the end of background work.
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
