import { type Line, line } from "../../terminal/lines.ts";

const ALWAYS = ["? help", "q quit"];
const GAP = "  ";

/** As many of the keys as fit, the most important first. No entry is cut. */
export function keyBar(keys: readonly string[], columns: number): Line {
  let shown = keys.length;
  const text = () => [...keys.slice(0, shown), ...ALWAYS].join(GAP);
  while (shown > 0 && text().length > columns) shown--;
  return line(text(), "dim");
}
