import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProgram } from "../../src/cli/program.ts";
import { ExitCode } from "../../src/cli/terminal/terminal.ts";
import { SPELLINGS } from "../../src/config.ts";
import { DECIDER_TOOLS, PERMIT } from "../../src/mcp/tools/approval-tools.ts";
import { CONVERSATION_TOOLS } from "../../src/mcp/tools/conversation-tools.ts";
import { SESSION_TOOLS } from "../../src/mcp/tools/session-tools.ts";
import { startPlexus } from "../support/plexus.ts";
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

  test("has every tool", () => {
    const rows = tableUnder("MCP tools", "tool", "for", "does");
    expect(rows.map(([tool]) => code(tool))).toEqual(
      [...DECIDER_TOOLS, ...SESSION_TOOLS, ...CONVERSATION_TOOLS].map(({ name }) => name).concat(PERMIT),
    );
  });

  test("names only endpoints that exist", async () => {
    await using plexus = await startPlexus();
    const requests = tableUnder("Endpoints", "request", "answer").flatMap(([cell = ""]) => [
      ...cell.matchAll(/`(\w+) (\S+)`/g),
    ]);
    expect(requests.length).toBeGreaterThan(0);
    for (const [, method = "", path = ""] of requests) {
      const response = await plexus.fetch(path, { method, signal: AbortSignal.timeout(5_000) });
      const isStream = response.headers.get("content-type") === "text/event-stream";
      const text = isStream ? "" : await response.text();
      await response.body?.cancel().catch(() => {});
      expect(`${method} ${path}: ${text}`).not.toContain("There is nothing at");
    }
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
