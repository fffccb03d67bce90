import { fitted, type Line, widthOf } from "../../terminal/lines.ts";

/** A line across the screen with a title, and at its end the part in view. */
export function ruled(title: Line, place: string, columns: number): Line {
  const where = place === "" ? "" : `${place} ─`;
  const shown = fitted([{ text: "── ", style: "dim" }, ...title], columns - where.length);
  const rule = "─".repeat(Math.max(0, columns - widthOf(shown) - where.length));
  return [...shown, { text: `${rule}${where}`, style: "dim" }];
}
