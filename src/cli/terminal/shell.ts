/** Joins the words into one line that a POSIX shell splits into exactly these words. */
export function shellLine(words: string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_/.:@+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
