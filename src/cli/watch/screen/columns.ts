import { fitted, span } from "../../terminal/lines.ts";

/** Formats rows in columns, each as wide as its widest cell up to its limit. */
export function inColumns(rows: string[][], limits: readonly number[]): string[] {
  const cells = rows.map((row) => row.map((text, column) => cell(text, limits[column] ?? 0)));
  const widths = limits.map((_, column) => Math.max(0, ...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const padded = (text: string, width: number) => text + " ".repeat(width - Bun.stringWidth(text));
  return cells.map((row) => row.map((text, column) => padded(text, widths[column] ?? 0)).join("  "));
}

function cell(text: string, width: number): string {
  return fitted([span(text)], width)
    .map((part) => part.text)
    .join("");
}

/** The first of `rows` visible rows out of `count`, so that `position` is in view. */
export function windowFrom(count: number, rows: number, position: number): number {
  return Math.max(0, Math.min(position - Math.floor(rows / 2), count - rows));
}
