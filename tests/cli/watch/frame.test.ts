import { describe, expect, test } from "bun:test";
import { type Line, line } from "../../../src/cli/terminal/lines.ts";
import { layoutOf, listLines, ruleLine } from "../../../src/cli/watch/requests/list-lines.ts";
import { bodyRows, frameOf } from "../../../src/cli/watch/screen/frame.ts";
import { keyBar } from "../../../src/cli/watch/screen/key-bar.ts";
import { listedRows } from "../../../src/client/arrangement.ts";
import { approvals, idOf } from "../../client/requests.ts";

const COUNT = 1_000;
const ITEMS = approvals(COUNT).map((approval) => ({ approval }));
const textsOf = (lines: Line[]) => lines.map((spans) => spans.map(({ text }) => text).join(""));

/** The frame with this request selected, and 500 lines of the request. */
function frame(size: { columns: number; rows: number }, position: number): string[] {
  const { columns } = size;
  const rows = listedRows(ITEMS, "none");
  const { list, detail } = layoutOf(bodyRows(size), rows.length);
  const shown = listLines({ rows, selectedId: idOf(position), now: 1_100, columns }, list);
  const rule = ruleLine({ item: ITEMS[position], place: ` request ${position + 1}/${COUNT}`, now: 1_100, columns });
  const body = [...shown, rule, ...Array.from({ length: detail }, (_, number) => line(`│ line ${number}`))];
  const head = { pending: COUNT, tab: "requests", about: "", url: "http://127.0.0.1:4445", isLive: true } as const;
  return textsOf(frameOf({ size, ...head, body, message: line(""), keys: keyBar(["a allow"], columns) }));
}

describe("a frame of plexus watch", () => {
  test.each([
    [80, 24],
    [40, 10],
    [20, 5],
    [8, 3],
    [300, 100],
  ])("fits in %i columns and %i rows", (columns, rows) => {
    const texts = frame({ columns, rows }, 700);
    expect(texts.length).toBeLessThanOrEqual(rows);
    expect(texts.join("\n")).toContain("▸ ");
  });

  test("shows the part of a long list in which the selected request stands", () => {
    for (const position of [0, 1, 500, 998, 999]) {
      const texts = frame({ columns: 80, rows: 24 }, position);
      expect(texts.filter((text) => text.startsWith("▸"))).toEqual([expect.stringContaining(`echo ${position}`)]);
      expect(texts.filter((text) => text.includes("worker  Bash"))).toHaveLength(
        layoutOf(bodyRows({ columns: 80, rows: 24 }), COUNT).list,
      );
    }
  });

  test("names as many keys as fit, those that matter most, and always help and quit", () => {
    const keys = ["a allow", "d deny", "e edit"];
    expect(textsOf([keyBar(keys, 40)])).toEqual(["a allow  d deny  e edit  ? help  q quit"]);
    expect(textsOf([keyBar(keys, 38)])).toEqual(["a allow  d deny  ? help  q quit"]);
    expect(textsOf([keyBar(keys, 10)])).toEqual(["? help  q quit"]);
  });
});
