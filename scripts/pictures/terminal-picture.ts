const ESCAPE = "\u001b";
const SEQUENCE = new RegExp(`${ESCAPE}\\[\\??([\\d;]*)([A-Za-z])|([^${ESCAPE}]+)`, "g");
const [CHARACTER, LINE, MARGIN] = [8.4, 18, 16];
const COLOURS: Record<string, string> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#76e3ea",
};
const [TEXT, DIM, GROUND] = ["#c9d1d9", "#7d8590", "#0d1117"];

type Piece = { column: number; text: string; style: string };

/** Draws a screen of this size after everything written to it, as `plexus watch` writes. */
export function terminalPicture(written: string, title: string, { columns, rows }: { columns: number; rows: number }) {
  const [width, height] = [2 * MARGIN + columns * CHARACTER, 2 * MARGIN + rows * LINE];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" viewBox="0 0 ${Math.ceil(width)} ${height}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">`;
  const texts = rowsIn(written).flatMap((pieces, row) => pieces.flatMap((piece) => textsOf(piece, row)));
  const ground = `<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>`;
  return `${[head, `<title>${title}</title>`, ground, ...texts, "</svg>"].join("\n")}\n`;
}

function rowsIn(written: string): Piece[][] {
  const rows: Piece[][] = [];
  let row = 0;
  let style = "0";
  for (const [, values = "", command, text] of written.matchAll(SEQUENCE)) {
    if (command === "H") row = Number(values.split(";")[0]) - 1;
    if (command === "K") rows[row] = [];
    if (command === "J") rows.length = 0;
    if (command === "m") style = values;
    if (text === undefined) continue;
    rows[row] ??= [];
    const last = rows[row]?.at(-1);
    rows[row]?.push({ column: last ? last.column + Bun.stringWidth(last.text) : 0, text, style });
  }
  return Array.from(rows, (pieces) => pieces ?? []);
}

/** Leaves out gaps of several spaces, so that no font can make them narrower. */
function textsOf({ column, text, style }: Piece, row: number): string[] {
  return Array.from(text.matchAll(/\S(?:.*?\S)??(?=\s{2,}|\s*$)/gu), (match) => {
    const x = MARGIN + (column + Bun.stringWidth(text.slice(0, match.index))) * CHARACTER;
    const fill = COLOURS[style] ?? (style === "2" ? DIM : TEXT);
    const weight = style === "1" ? ' font-weight="bold"' : "";
    const length = (Bun.stringWidth(match[0]) * CHARACTER).toFixed(1);
    const y = MARGIN + 14 + row * LINE;
    return `<text x="${x.toFixed(1)}" y="${y}" fill="${fill}"${weight} xml:space="preserve" textLength="${length}">${Bun.escapeHTML(match[0])}</text>`;
  });
}
