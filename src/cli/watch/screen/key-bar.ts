import { type Line, line } from "../../terminal/lines.ts";

const ALWAYS = ["? help", "q quit"];
const GAP = "  ";

/** What the keys do, as much of it as fits: those that matter most come first, and none is cut. */
export function keyBar(keys: readonly string[], columns: number): Line {
  let shown = keys.length;
  const text = () => [...keys.slice(0, shown), ...ALWAYS].join(GAP);
  while (shown > 0 && text().length > columns) shown--;
  return line(text(), "dim");
}
