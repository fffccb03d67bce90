import { describe, expect, test } from "bun:test";
import type { ApprovalContext } from "../../src/contract/approvals/approval-context.ts";
import { namedPath } from "../../src/contract/approvals/named-path.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import { dangersOf } from "../../src/review/dangers.ts";
import { TOOL_RULES } from "../../src/review/tool-dangers.ts";
import { asked, rulesOf } from "./asked.ts";
import { ROWS } from "./table.ts";

const SKILL = { path: "/srv/project/.claude/skills/x/SKILL.md", text: "do it" };

/** All that belongs to a call was found, and its path leads where it says. */
function here(tool_name: string, input: JsonObject): ApprovalContext {
  const real_path = namedPath({ tool_name, input }) ?? null;
  return { working_dir: "/work-dir", file: null, real_path, plan: "1. Do it", skill: SKILL };
}

describe("dangersOf", () => {
  const calls = ROWS.map((row) => ({ ...row, call: `${row.tool} ${JSON.stringify(row.input)}` }));

  test.each(calls)("raises for $call exactly: $rules", ({ tool, input, rules }) => {
    expect(rulesOf(dangersOf(asked(tool, input), here(tool, input)))).toEqual(rules.split(" ").filter(Boolean).sort());
  });

  test.each(TOOL_RULES)("needs the rule $rule for at least one call that nothing else finds", ({ rule }) => {
    const others = TOOL_RULES.filter((one) => one.rule !== rule);
    const missed = ROWS.filter(({ tool, input }) => {
      const approval = asked(tool, input);
      const context = here(tool, input);
      return dangersOf(approval, context).length > 0 && dangersOf(approval, context, others).length === 0;
    });
    expect(missed.length).toBeGreaterThan(0);
  });

  test("takes what could not be read for dangerous", () => {
    expect(dangersOf(asked("Read", {}), undefined)).toEqual([
      { rule: "unreadable", message: "could not be looked at in full" },
    ]);
  });

  test("takes no file for outside when nobody knows where the child works, but knows what runs later", () => {
    const nowhere = { working_dir: null, file: null, real_path: null, plan: null, skill: null };
    const of = (path: string) => rulesOf(dangersOf(asked("Write", { file_path: path, content: "" }), nowhere));
    expect(of("/srv/me/project/src/a.ts")).toEqual([]);
    expect(of("/srv/me/project/.git/hooks/pre-commit")).toEqual(["settings"]);
  });

  test("takes a working directory below .claude for an ordinary one", () => {
    const of = (file_path: string) => {
      const input = { file_path, content: "" };
      const worktree = { ...here("Write", input), working_dir: "/work-dir/.claude/skills/x/" };
      return rulesOf(dangersOf(asked("Write", input), worktree));
    };
    expect(of("/work-dir/.claude/skills/x/src/a.ts")).toEqual([]);
    expect(of("/work-dir/.claude/skills/y/src/a.ts")).toEqual(["outside", "settings"]);
  });
});

function rules(tool_name: string, input: JsonObject, context: Partial<ApprovalContext> = {}): string[] {
  const nothing = { working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null };
  return dangersOf(asked(tool_name, input), { ...nothing, ...context }).map(({ rule }) => rule);
}

describe("the dangers of a call", () => {
  test("are those of the path that is written, and of where it really leads", () => {
    const write = (file_path: string, real_path: string | null) =>
      rules("Write", { file_path, content: "x" }, { real_path });
    expect(write("/srv/project/a", "/srv/project/a")).toEqual([]);
    expect(write("/srv/project/docs/a", "/etc/a")).toEqual(["outside"]);
    expect(write("/srv/project/docs/a", "/srv/project/.git/hooks/a")).toEqual(["settings"]);
    expect(write("/srv/project/docs/keys", "/srv/me/.ssh/keys")).toEqual(["outside", "settings", "secrets"]);
    expect(write("/etc/a", "/srv/project/a")).toEqual(["outside"]);
  });

  test("have a path among them that nobody can follow, where the host is known", () => {
    expect(rules("Write", { file_path: "/srv/project/loop/a", content: "x" })).toEqual(["unreadable"]);
    expect(rules("Read", { file_path: "/srv/project/docs/a" })).toEqual(["unreadable"]);
    expect(rules("Grep", { pattern: "x", path: "docs" })).toEqual(["unreadable"]);
    expect(rules("Write", { file_path: "/srv/project/a", content: "x" }, { working_dir: null })).toEqual([]);
  });

  test("have a skill among them, since it grants more than the call, and more so where it can't be read", () => {
    expect(rules("Skill", { skill: "x" }, { skill: SKILL })).toEqual(["skill"]);
    expect(rules("Skill", { skill: "x" })).toEqual(["skill", "unreadable"]);
    expect(rules("Skill", { skill: "x" }, { skill: { ...SKILL, text: "a\u202eb" } })).toEqual(["skill", "hidden"]);
  });

  test("have a plan among them that can't be shown, or hides something", () => {
    expect(rules("ExitPlanMode", {}, { plan: "1. Do it" })).toEqual([]);
    expect(rules("ExitPlanMode", {})).toEqual(["unreadable"]);
    expect(rules("ExitPlanMode", {}, { plan: "1. \u200bDo it" })).toEqual(["hidden"]);
  });
});
