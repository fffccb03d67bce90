import { describe, expect, test } from "bun:test";
import { filled } from "../../scripts/docs/generated.ts";

const PAGE = "Before.\n\n<!-- generated: a table -->\nold\n<!-- /generated -->\n\nAfter.\n";

describe("the generated parts of a page", () => {
  test("are replaced, and what is written by hand around them stays", () => {
    const { after, problems } = filled(PAGE, [{ name: "a table", text: "new" }]);
    expect(after).toBe("Before.\n\n<!-- generated: a table -->\n\nnew\n\n<!-- /generated -->\n\nAfter.\n");
    expect(problems).toEqual([]);
    expect(filled(after, [{ name: "a table", text: "new" }]).after).toBe(after);
  });

  test("keep what looks like a pattern of a replacement", () => {
    expect(filled(PAGE, [{ name: "a table", text: "$& costs $1" }]).after).toContain("\n$& costs $1\n");
  });

  test("are missed where the page has no place for one", () => {
    const { problems } = filled(PAGE, [
      { name: "a table", text: "new" },
      { name: "another", text: "new" },
    ]);
    expect(problems).toEqual(["there is no <!-- generated: another --> … <!-- /generated -->"]);
  });

  test("are missed where nothing fills a place, and where one name has two places", () => {
    expect(filled(PAGE, []).problems).toHaveLength(1);
    expect(filled(PAGE + PAGE, [{ name: "a table", text: "new" }]).problems).toHaveLength(1);
  });
});
