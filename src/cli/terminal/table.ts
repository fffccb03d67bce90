import { printable } from "./printable.ts";
import { bold, type Terminal } from "./terminal.ts";

const GAP = "  ";
/** The width of the last column without a screen, and its minimum on a narrow one. */
const LAST_COLUMN = { unlimited: 200, least: 20 };

/** The largest share of the screen for each column; `undefined` sets no limit. */
export type Shares = (number | undefined)[];

/**
 * Formats columns as wide as their widest cell. On a screen, shares limit them, and the last column gets the rest of
 * the line.
 */
export function table(header: string[], rows: string[][], terminal: Terminal, shares: Shares = []): string {
  const limited = (cell: string, column: number) => {
    const share = terminal.isInteractive ? shares[column] : undefined;
    return share === undefined ? cell : shortened(cell, Math.floor(terminal.columns * share));
  };
  const cells = [header, ...rows.map((row) => row.map((cell, column) => limited(printable(cell), column)))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = terminal.isInteractive ? Math.max(LAST_COLUMN.least, terminal.columns - before) : LAST_COLUMN.unlimited;
  const lines = cells.map((row) => {
    const last = shortened(row.at(-1) ?? "", room);
    const others = row.slice(0, -1).map((cell, column) => padded(cell, widths[column] ?? 0));
    return [...others, last].join(GAP).trimEnd();
  });
  lines[0] = bold(lines[0] ?? "", terminal);
  return `${lines.join("\n")}\n`;
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
}

/** At most `width` columns of the text; a cut shows as `…`. */
export function shortened(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += Bun.stringWidth(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Wraps the text into rows of at most `width` columns. */
export function wrapped(text: string, width: number): string[] {
  const rows = [""];
  let used = 0;
  for (const character of text.replaceAll("\t", "    ")) {
    const size = Bun.stringWidth(character);
    if (used + size > width) {
      rows.push("");
      used = 0;
    }
    rows.push(`${rows.pop()}${character}`);
    used += size;
  }
  return rows;
}
