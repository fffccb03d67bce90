import { describe, expect, test } from "bun:test";
import { staleDocs, withGenerated } from "../../scripts/docs/generated.ts";

const page = (table: string) => `before\n<!-- generated: table -->\n${table}<!-- /generated -->\nafter\n`;

describe("the generated parts of the docs", () => {
  test("say what the code says", async () => {
    expect((await staleDocs()).map(({ path }) => path)).toEqual([]);
  });

  test("are replaced between their markers, and nothing else is", async () => {
    const generators = { table: async () => "| new |" };
    for (const old of ["", "| old |\n", "| new |\n"])
      expect(await withGenerated(page(old), generators)).toBe(page("| new |\n"));
  });

  test("need somebody who generates them", async () => {
    expect(withGenerated(page(""), {})).rejects.toThrow('Nothing generates "table"');
  });
});
