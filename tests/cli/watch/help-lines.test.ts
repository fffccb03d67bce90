import { describe, expect, test } from "bun:test";
import type { Line } from "../../../src/cli/terminal/lines.ts";
import { decidingHelp, helpLines } from "../../../src/cli/watch/help-lines.ts";

const textOf = (lines: Line[]) => lines.map((spans) => spans.map(({ text }) => text).join(""));
const wordsOf = (rows: string[]) => rows.join(" ").split(/\s+/).filter(Boolean);

describe("the help of plexus watch and run", () => {
  test.each([80, 60, 40])("breaks between words in %i columns", (columns) => {
    const helps = [(width: number) => helpLines("requests", width), (width: number) => helpLines("sessions", width)];
    for (const help of [...helps, decidingHelp]) {
      const rows = textOf(help(columns));
      for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
      expect(wordsOf(rows)).toEqual(wordsOf(textOf(help(1_000))));
    }
  });
});
