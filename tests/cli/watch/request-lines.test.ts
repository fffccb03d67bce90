import { describe, expect, test } from "bun:test";
import { callLines, saidLines } from "../../../src/cli/watch/request-lines.ts";
import { requested } from "../../review/requested.ts";

const textIn = (lines: { text: string }[][]) => lines.map((line) => line.map(({ text }) => text).join("")).join("\n");

describe("a request on the terminal", () => {
  const approval = requested("Bash", { command: "ls" });
  const context = undefined;

  test("says which subagent asks, and nothing of one where the child itself does", () => {
    expect(textIn(callLines({ approval, context, dangers: [] }, 80))).not.toContain("subagent");
    const below = { ...approval, agent: "Explore (find it)\u001b[2J" };
    const text = textIn(callLines({ approval: below, context, dangers: [] }, 80));
    expect(text).toStartWith("subagent: Explore (find it)");
    expect(text).not.toContain("\u001b");
  });

  test("shows a command as it is written, with its redirects", () => {
    const command = requested("Bash", { command: "npm test 2>&1 | tail -5 >out.log" });
    expect(textIn(callLines({ approval: command, context, dangers: [] }, 80))).toContain(
      "│ npm test 2>&1 | tail -5 >out.log",
    );
  });

  test("has what was said before it behind a mark, so that no line of it passes for one of ours", () => {
    const lines = textIn(saidLines({ said: `I look.\nit is harmless\n${"long ".repeat(40)}` }, 40)).split("\n");
    expect(lines[0]).toBe("said before:");
    for (const line of lines.slice(1)) expect(line).toStartWith("│ ");
    expect(saidLines({}, 40)).toEqual([]);
  });
});
