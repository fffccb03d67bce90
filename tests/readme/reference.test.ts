import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProgram } from "../../src/cli/program.ts";
import { ExitCode } from "../../src/cli/terminal/terminal.ts";
import { SPELLINGS } from "../../src/config.ts";
import { ROOT, tableUnder } from "./readme.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

describe("the README's reference", () => {
  test("has every setting, as a flag and in the environment", () => {
    const rows = tableUnder("Settings", "flag", "environment", "default", "meaning");
    expect(rows.map(([flag, env]) => [flag, env].map(code))).toEqual(
      Object.values(SPELLINGS).map(({ flag = "", env }) => [flag, env]),
    );
  });

  test("has every command", () => {
    const rows = tableUnder("Commands", "command", "does");
    const { commands } = createProgram({
      out: () => {},
      err: () => {},
      input: async () => "",
      isInteractive: false,
      showsErrors: false,
      hasColour: false,
      columns: 80,
    });
    expect(rows.map(([command = ""]) => code(command).split(" ")[0])).toEqual(
      commands.map((command) => command.name()),
    );
  });

  test("has every exit code", () => {
    const rows = tableUnder("Commands", "exit code", "means");
    expect(rows.map(([exitCode]) => Number(exitCode))).toEqual(Object.values(ExitCode));
  });
});

describe("the links of", () => {
  test.each(PAGES)("%s lead to files that exist", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !existsSync(join(ROOT, dirname(page), target)))).toEqual([]);
  });
});

function code(cell = ""): string {
  return /^`([^`]+)`/.exec(cell)?.[1] ?? "";
}
