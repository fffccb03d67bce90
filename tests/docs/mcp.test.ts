import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ErrorCode } from "../../src/contract/errors.ts";
import { TurnEvent } from "../../src/contract/sessions/turn.ts";
import { isJsonObject } from "../../src/contract/values.ts";
import { DECIDER_TOOLS, OPERATOR_PERMIT } from "../../src/mcp/tools/approval-tools.ts";
import { CONVERSATION_TOOLS } from "../../src/mcp/tools/conversation-tools.ts";
import { SESSION_TOOLS } from "../../src/mcp/tools/session-tools.ts";
import type { Tool } from "../../src/mcp/tools/tool.ts";
import { SESSION_RESULTS } from "../support/session-results.ts";

const ROOT = join(import.meta.dir, "../..");
const PAGE = readFileSync(join(ROOT, "docs/mcp.md"), "utf8");
const TOOLS: Tool[] = [...DECIDER_TOOLS, ...SESSION_TOOLS, ...CONVERSATION_TOOLS, OPERATOR_PERMIT];
const Schema = z.object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()).default([]) });

/** The examples of the contract that the page shows, in its order; placeholders stand for what differs. */
const CONTRACT: Record<string, string[]> = {
  loopback_wait: ["wait-ok", "wait-timeout"],
  loopback_pending: ["pending-none"],
  loopback_respond: ["respond-ok-allowed", "respond-already-resolved"],
  loopback_get: ["get-slice"],
  loopback_configure: ["configure"],
  loopback_permit: ["permit-allow", "permit-timeout"],
};

describe("docs/mcp.md", () => {
  test("has every tool, and no other", () => {
    const titles = [...PAGE.matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name);
    expect(titles.toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted());
  });

  test.each(TOOLS.map((tool) => [tool.name, tool] as const))("has the arguments of %s, and no other", (name, tool) => {
    const { properties, required } = Schema.parse(z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" }));
    const there = Object.keys(properties).map((key) => [key, required.includes(key) ? "required" : "optional"]);
    expect(rowsUnder(name, "argument").map(([argument, need]) => [code(argument), need])).toEqual(there);
  });

  test.each(Object.entries(SESSION_RESULTS))("shows what %s answers", (name, schema) => {
    const examples = examplesUnder(name);
    expect(examples).not.toBeEmpty();
    for (const example of examples) schema.parse(example);
  });

  test.each(Object.entries(CONTRACT))("shows what %s answers, as the contract has it", (name, files) => {
    const examples = files.map((file) =>
      json(readFileSync(join(ROOT, `tests/contract/examples/${file}.json`), "utf8")),
    );
    expect(examplesUnder(name).map((example) => shapeOf(withoutNext(example)))).toEqual(examples.map(shapeOf));
  });

  test("shows the notification of an ask", () => {
    const example = json(readFileSync(join(ROOT, "tests/contract/examples/notification-message.json"), "utf8"));
    expect(examplesUnder("Notifications").map(shapeOf)).toEqual([shapeOf(example)]);
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
  return [...sectionOf(title).matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = ""]) => json(text));
}

function json(text: string): unknown {
  return JSON.parse(text);
}

function withoutNext(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { next: _, ...rest } = value;
  return rest;
}

/** All keys, and nulls where there are nulls: what two examples of one thing have in common. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (!isJsonObject(value)) return value === null ? null : "…";
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

function code(cell = ""): string {
  return /^`([^`]+)`/.exec(cell)?.[1] ?? "";
}
