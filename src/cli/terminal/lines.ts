import { printable } from "./printable.ts";
import { type Style, styled, type Terminal } from "./terminal.ts";

/** A part of a line. Its text contains no control characters. */
export type Span = { text: string; style?: Style | undefined };
export type Line = Span[];

const TAB = "    ";

/** Makes any text of a child safe to show. */
export function span(text: string, style?: Style): Span {
  return { text: printable(text.replaceAll("\t", TAB)), style };
}

export function line(text: string, style?: Style): Line {
  return [span(text, style)];
}

export function widthOf(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + Bun.stringWidth(text), 0);
}

/** At most this many columns of the line; a cut shows as `…`. */
export function fitted(spans: Line, columns: number): Line {
  if (widthOf(spans) <= columns) return spans;
  const [first = []] = wrapped(spans, Math.max(1, columns - 1));
  return [...first, { text: "…" }];
}

/** Wraps a line. The lines after the first one start with `gutter`. */
export function wrapped(spans: Line, columns: number, gutter: Span = { text: "" }): Line[] {
  const lines: Line[] = [[]];
  let used = 0;
  for (const { text, style } of spans) {
    let kept = "";
    for (const character of text) {
      const width = Bun.stringWidth(character);
      if (used + width > columns && used > 0) {
        lines.at(-1)?.push({ text: kept, style });
        lines.push([gutter]);
        [kept, used] = ["", Bun.stringWidth(gutter.text)];
      }
      kept += character;
      used += width;
    }
    lines.at(-1)?.push({ text: kept, style });
  }
  return lines;
}

export function painted(spans: Line, terminal: Terminal): string {
  return spans.map(({ text, style }) => (style ? styled(style, text, terminal) : text)).join("");
}
