import { structuredPatch } from "diff";
import { printable } from "../terminal/printable.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

const CONTEXT_LINES = 2;
const STYLES: Record<string, "green" | "red"> = { "+": "green", "-": "red" };

/** The change to a file as a diff, with tokens masked. */
export function changeText(path: string, before: string, after: string, terminal: Terminal): string {
  const { hunks } = structuredPatch("", "", masked(before), masked(after), "", "", { context: CONTEXT_LINES });
  const lines = hunks.flatMap((hunk) => [`@@ line ${hunk.newStart} @@`, ...hunk.lines]);
  const shown = lines.map((line) => {
    const style = STYLES[line[0] ?? ""];
    const text = printable(line.replace(/\r$/, ""));
    return style ? styled(style, text, terminal) : text;
  });
  return `${path}\n${shown.join("\n")}\n`;
}

function masked(text: string): string {
  return text.replaceAll(/plx_[\w-]+/g, "plx_…");
}
