/** A text without its middle. */
type Parts = { head: string; left: string; tail: string };

/** Keeps the head and tail of the text, with the number of missing characters in between. */
export function cutText(text: string, limit: number): string {
  return joined(text, limit, ({ left }) => `${left.length} of ${text.length} characters left out`);
}

/** Joins the head and tail of a text that is longer than `limit` with words about what is missing. */
export function joined(text: string, limit: number, words: (parts: Parts) => string): string {
  if (text.length <= limit) return text;
  const kept = Math.max(20, limit - 60);
  const from = wholeCharacter(text, Math.ceil(kept * 0.7));
  const to = wholeCharacter(text, text.length - Math.floor(kept * 0.3));
  const parts = { head: text.slice(0, from), left: text.slice(from, to), tail: text.slice(to) };
  return `${parts.head}\n…[${words(parts)}]…\n${parts.tail}`;
}

/** Returns the position, or the one before it if it would split a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
