const ESCAPE = "\u001b";
const SEQUENCE = new RegExp(`${ESCAPE}\\[\\??([\\d;]*)([A-Za-z])|([^${ESCAPE}]+)`, "g");

/** The screen's content after everything that was written to it. Supports the sequences that `plexus watch` uses. */
export function rowsOf(written: string): string[] {
  const rows: string[] = [];
  let row = 0;
  for (const [, values = "", command, text] of written.matchAll(SEQUENCE)) {
    if (text !== undefined) rows[row] = (rows[row] ?? "") + text;
    if (command === "H") row = Number(values.split(";")[0]) - 1;
    if (command === "K") rows[row] = "";
    if (command === "J") rows.length = 0;
  }
  return Array.from(rows, (line) => line ?? "");
}
