import { type Line, type Stretch, textOf } from "../../../review/diff.ts";
import { type Run, runsByLine } from "../highlight/highlight.ts";

/** A part of a line with one color, changed or not. */
export type Piece = Run & Pick<Stretch, "isChanged">;

/** The colored pieces of each line. The texts before and after the change are each highlighted as a whole. */
export function colouredLines(lines: Line[], highlight: (code: string) => Run[]): Map<Line, Piece[]> {
  const pieces = new Map<Line, Piece[]>();
  for (const other of ["+", "-"] as const) {
    const side = lines.filter(({ sign }) => sign !== other);
    const runs = runsByLine(highlight(side.map(textOf).join("\n")));
    for (const [at, line] of side.entries()) pieces.set(line, merged(runs[at] ?? [], line.stretches));
  }
  return pieces;
}

/** Runs and stretches cover the same text; a piece ends where either of them does. */
function merged(runs: Run[], stretches: Stretch[]): Piece[] {
  const pieces: Piece[] = [];
  const waiting = runs.values();
  let run = waiting.next().value;
  let used = 0;
  for (const { text, isChanged } of stretches) {
    for (let at = 0; at < text.length; ) {
      const left = run ? run.text.length - used : text.length - at;
      const length = Math.min(left, text.length - at);
      pieces.push({ text: text.slice(at, at + length), name: run?.name ?? "", isChanged });
      at += length;
      used += length;
      if (run && used >= run.text.length) {
        run = waiting.next().value;
        used = 0;
      }
    }
  }
  return pieces;
}
