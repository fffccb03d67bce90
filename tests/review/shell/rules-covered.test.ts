import { describe, expect, test } from "bun:test";
import { dangersIn } from "../../../src/review/shell/command-dangers.ts";
import { RULES } from "../../../src/review/shell/dangers/index.ts";
import { parseCommand } from "../../../src/review/shell/index.ts";
import { ROWS } from "./table/index.ts";

describe("the table of commands", () => {
  test("names only rules that exist, and no command twice", () => {
    const known = new Set(RULES.map(({ rule }) => rule));
    expect(ROWS.flatMap(({ rules }) => rules).filter((rule) => !known.has(rule))).toEqual([]);
    const commands = ROWS.map(({ command }) => command);
    expect(commands.filter((command, at) => commands.indexOf(command) !== at)).toEqual([]);
  });

  test.each(RULES)("needs the rule $rule for at least one command that no other rule detects", ({ rule }) => {
    const others = RULES.filter((one) => one.rule !== rule);
    const found = ROWS.filter(({ rules }) => rules.join() === rule);
    const missed = found.filter(({ command }) => dangersIn(parseCommand(command), "/work-dir", others).length === 0);
    expect(missed.length).toBeGreaterThan(0);
  });

  test("has each rule only once", () => {
    expect(RULES.map(({ rule }) => rule)).toEqual([...new Set(RULES.map(({ rule }) => rule))]);
  });
});
