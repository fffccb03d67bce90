import { describe, expect, test } from "bun:test";
import { frameOf, layoutOf } from "../../../src/cli/watch/frame.ts";
import { line } from "../../../src/cli/watch/lines.ts";
import { approvals } from "../../client/requests.ts";

describe("a frame of plexus watch", () => {
  const view = {
    now: 1_100,
    url: "http://127.0.0.1:4445",
    isLive: true,
    items: approvals(1_000).map((approval) => ({ approval })),
    scroll: 0,
    message: line(""),
  };
  const detail = Array.from({ length: 500 }, (_, number) => line(`│ line ${number}`));

  test.each([
    [80, 24],
    [40, 10],
    [20, 5],
    [8, 3],
    [300, 100],
  ])("fits in %i columns and %i rows", (columns, rows) => {
    const frame = frameOf({ ...view, size: { columns, rows }, detail, position: 700 });
    expect(frame.length).toBeLessThanOrEqual(rows);
    expect(frame.map((row) => row.map(({ text }) => text).join("")).join("\n")).toContain("▸ ");
  });

  test("shows the part of a long list in which the selected request stands", () => {
    for (const position of [0, 1, 500, 998, 999]) {
      const rows = frameOf({ ...view, size: { columns: 80, rows: 24 }, detail, position });
      const texts = rows.map((row) => row.map(({ text }) => text).join(""));
      expect(texts.filter((text) => text.startsWith("▸"))).toEqual([expect.stringContaining(`echo ${position}`)]);
      expect(texts.filter((text) => text.includes("worker  Bash"))).toHaveLength(
        layoutOf({ columns: 80, rows: 24 }, 1_000).list,
      );
    }
  });
});
