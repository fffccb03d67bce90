import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ToolRequestEvent } from "../../src/contract/approvals/approval.ts";
import { ErrorCode } from "../../src/contract/refusals/errors.ts";
import { TurnEvent } from "../../src/contract/sessions/turn.ts";

const PAGE = readFileSync(join(import.meta.dir, "../../docs/mcp.md"), "utf8");
const Notification = z.strictObject({
  level: z.literal("notice"),
  logger: z.literal("loopback"),
  data: ToolRequestEvent,
});

/** What is written by hand; the tables and examples of the tools are generated from their declarations. */
describe("docs/mcp.md", () => {
  test("shows the notification of a request", () => {
    const [example, ...others] = examplesUnder("Notifications");
    Notification.parse(example);
    expect(others).toEqual([]);
  });

  test("has every error code", () => {
    expect(rowsUnder("Errors", "code").map(([cell]) => code(cell))).toEqual(ErrorCode.options);
  });

  test("has every event of a turn", () => {
    const types = TurnEvent.options.map(({ shape }) => shape.type.value);
    expect(
      rowsUnder("claudecode_poll", "event")
        .map(([cell]) => code(cell))
        .toSorted(),
    ).toEqual(types.toSorted());
  });
});

function sectionOf(title: string): string {
  const found = PAGE.split(/^(?=#{2,3} )/m).find(
    (section) => section.replaceAll("`", "").match(/^#+ (.*)/)?.[1] === title,
  );
  if (found === undefined) throw new Error(`docs/mcp.md has no section "${title}"`);
  return found;
}

/** The rows of the table in this section whose first column has this name. */
function rowsUnder(title: string, first: string): string[][] {
  const tables = [...sectionOf(title).matchAll(/(?:^\|.*\|$\n?)+/gm)].map(([text]) =>
    text.trim().split("\n").map(cellsOf),
  );
  const found = tables.find(([head]) => head?.[0] === first);
  if (found === undefined) throw new Error(`docs/mcp.md has no table of each ${first} under "${title}"`);
  return found.slice(2);
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
}

function examplesUnder(title: string): unknown[] {
  return [...sectionOf(title).matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = ""]) => JSON.parse(text));
}

function code(cell = ""): string {
  return /^`([^`]+)`/.exec(cell)?.[1] ?? "";
}
