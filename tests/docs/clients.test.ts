import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import root from "../../package.json" with { type: "json" };
import { remoteArguments } from "../clients/mcp-remote.ts";
import installed from "../clients/package.json" with { type: "json" };

const PAGE = readFileSync(join(import.meta.dir, "../../docs/clients.md"), "utf8");
/** What the tests in tests/clients/ try, each with the version that they install. */
const TRIED = Object.entries({ ...root.dependencies, ...root.devDependencies, ...installed.dependencies }).filter(
  ([name]) => /claude-code|\/sdk$|\/client$|inspector|remote|mcp$/.test(name),
);

/** What is written by hand; the settings that `plexus connect` writes are generated. */
describe("docs/clients.md", () => {
  test.each(TRIED)("names the version of %s that the tests try", (name, version) => {
    const shown = name === "@anthropic-ai/claude-code" ? "[Claude Code]" : `\`${name}\``;
    expect(rows().filter((row) => row.includes(shown) && row.includes(`| ${version} |`))).toHaveLength(1);
  });

  test("gives mcp-remote the arguments that its test gives it", () => {
    const { command, args, env } = Object(settingsUnder("mcp-remote")).mcpServers.plexus;
    expect({ command, args }).toEqual({
      command: "npx",
      args: ["mcp-remote", ...remoteArguments("http://127.0.0.1:4445")],
    });
    expect(env).toEqual({ AUTH_HEADER: "Bearer TOKEN" });
  });
});

function rows(): string[] {
  return PAGE.split("\n").filter((line) => line.startsWith("| "));
}

function settingsUnder(title: string): unknown {
  const section = PAGE.split(/^(?=## )/m).find((text) => text.startsWith(`## ${title}\n`)) ?? "";
  return JSON.parse(/^```json\n(.*?)^```$/ms.exec(section)?.[1] ?? "");
}
