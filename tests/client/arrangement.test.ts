import { describe, expect, test } from "bun:test";
import { type Arrangement, arranged, listedRows } from "../../src/client/arrangement.ts";
import type { InboxItem } from "../../src/client/inbox.ts";
import { approval } from "./requests.ts";

const item = (number: number, session_name: string, tool_name: string, expires_at: number): InboxItem => ({
  approval: { ...approval(number), session_name, tool_name, expires_at },
});
const ALL = [item(0, "shop", "Bash", 30), item(1, "docs", "Write", 10), item(2, "shop", "Write", 20)];
const HOW: Arrangement = { filter: "", order: "oldest", groups: "none" };
const numbers = (items: InboxItem[]) => items.map(({ approval }) => Number(approval.id.slice(-4)));

describe("the requests of an inbox", () => {
  test("are filtered by a text in their tool, their session or their input", () => {
    expect(numbers(arranged(ALL, { ...HOW, filter: " WRITE " }))).toEqual([1, 2]);
    expect(numbers(arranged(ALL, { ...HOW, filter: "docs" }))).toEqual([1]);
    expect(numbers(arranged(ALL, { ...HOW, filter: "echo 0" }))).toEqual([0]);
    expect(numbers(arranged(ALL, { ...HOW, filter: "nothing" }))).toEqual([]);
  });

  test("are ordered by age or by the time left", () => {
    expect(numbers(arranged(ALL, HOW))).toEqual([0, 1, 2]);
    expect(numbers(arranged(ALL, { ...HOW, order: "newest" }))).toEqual([2, 1, 0]);
    expect(numbers(arranged(ALL, { ...HOW, order: "time_left" }))).toEqual([1, 2, 0]);
  });

  test("are grouped in the order of each group's first request, below a header with the pending ones", () => {
    const settled = { status: "denied", by: "operator", at: 1, message: null, lost: false } as const;
    const [first, second, third] = ALL;
    const list = arranged([first, second, { ...third, outcome: settled }] as InboxItem[], {
      ...HOW,
      groups: "session",
    });
    const rows = listedRows(list, "session");
    expect(rows.map((row) => ("group" in row ? row : numbers([row.item])[0]))).toEqual([
      { group: "shop", ids: ["id-0000"] },
      0,
      2,
      { group: "docs", ids: ["id-0001"] },
      1,
    ]);
    expect(rows.flatMap((row) => ("place" in row ? [row.place] : []))).toEqual([1, 2, 3]);
    expect(numbers(arranged(ALL, { ...HOW, groups: "tool" }))).toEqual([0, 1, 2]);
  });
});
