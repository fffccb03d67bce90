import type { Line } from "../../terminal/lines.ts";

/** The scroll position of lines that do not all fit. */
export function createScroll() {
  let from = 0;
  return {
    by(rows: number): void {
      from += rows;
    },
    toTop(): void {
      from = 0;
    },
    /** The lines in view, and which part that is if it is not all of them. */
    view(lines: Line[], rows: number): { lines: Line[]; part: string } {
      from = Math.max(0, Math.min(from, lines.length - rows));
      const shown = lines.slice(from, from + rows);
      const part = lines.length > rows ? ` ${from + 1}-${from + shown.length}/${lines.length}` : "";
      return { lines: shown, part };
    },
  };
}
