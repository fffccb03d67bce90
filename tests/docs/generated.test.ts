import { describe, expect, test } from "bun:test";
import { staleDocs, withGenerated } from "../../scripts/docs/generated.ts";

const page = (table: string) => ({
  path: "page.md",
  text: `before\n<!-- generated: table -->\n${table}<!-- /generated -->\nafter\n`,
});

describe("the generated parts of the docs", () => {
  test("say what the code says", async () => {
    expect((await staleDocs()).map(({ path }) => path)).toEqual([]);
  });

  test("are replaced between their markers, and nothing else is", async () => {
    const generators = { table: () => "| $& |" };
    for (const old of ["", "| old |\n"])
      expect(await withGenerated([page(old)], generators)).toEqual([page("| $& |\n")]);
    expect(await withGenerated([page("| $& |\n")], generators)).toEqual([]);
  });

  test("need somebody who generates them", async () => {
    await expect(withGenerated([page("")], {})).rejects.toThrow('Nothing generates "table"');
  });

  test("need a place on a page", async () => {
    const generators = { table: () => "", claudecode_new: () => "" };
    await expect(withGenerated([page("")], generators)).rejects.toThrow("for claudecode_new");
  });
});
