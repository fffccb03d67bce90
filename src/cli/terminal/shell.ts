/** The words as one line that a POSIX shell takes apart into exactly these words. */
export function shellLine(words: string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_/.:@+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
