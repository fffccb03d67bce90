import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RULES } from "../../src/review/shell/dangers/index.ts";
import { TOOL_RULES } from "../../src/review/tool-dangers.ts";

const [, commands = "", others = ""] = readFileSync(join(import.meta.dir, "../../docs/dangers.md"), "utf8").split(
  /^## /m,
);

/** The rules that a section's table describes. */
const described = (section: string) => [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, rule]) => rule).sort();

describe("docs/dangers.md", () => {
  test("describes every rule for commands, and no other", () => {
    expect(described(commands)).toEqual(RULES.map(({ rule }) => rule).sort());
  });

  test("describes every rule for other calls, and no other", () => {
    expect(described(others)).toEqual(TOOL_RULES.map(({ rule }) => rule).sort());
  });
});
