import { describe, expect, test } from "bun:test";
import type { ApprovalContext } from "../../src/contract/approvals/approval-context.ts";
import { namedPath } from "../../src/contract/approvals/named-path.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import { dangersOf } from "../../src/review/dangers.ts";
import { TOOL_RULES } from "../../src/review/tool-dangers.ts";
import { requested, rulesOf } from "./requested.ts";
import { ROWS } from "./table.ts";

const SKILL = { path: "/srv/project/.claude/skills/x/SKILL.md", text: "do it" };

/** A context with everything found, and no links in the path. */
function here(tool_name: string, input: JsonObject): ApprovalContext {
  const real_path = namedPath({ tool_name, input }) ?? null;
  return { working_dir: "/work-dir", file: null, real_path, plan: "1. Do it", skill: SKILL };
}

describe("dangersOf", () => {
  const calls = ROWS.map((row) => ({ ...row, call: `${row.tool} ${JSON.stringify(row.input)}` }));

  test.each(calls)("raises for $call exactly: $rules", ({ tool, input, rules }) => {
    expect(rulesOf(dangersOf(requested(tool, input), here(tool, input)))).toEqual(
      rules.split(" ").filter(Boolean).sort(),
    );
  });

  test.each(TOOL_RULES)("needs the rule $rule for at least one call that no other rule detects", ({ rule }) => {
    const others = TOOL_RULES.filter((one) => one.rule !== rule);
    const missed = ROWS.filter(({ tool, input }) => {
      const approval = requested(tool, input);
      const context = here(tool, input);
      return dangersOf(approval, context).length > 0 && dangersOf(approval, context, others).length === 0;
    });
    expect(missed.length).toBeGreaterThan(0);
  });

  test("reports a call whose context could not be read", () => {
    expect(dangersOf(requested("Read", {}), undefined)).toEqual([
      { rule: "unreadable", message: "could not be checked completely" },
    ]);
  });

  test("reports no file as outside when the working directory is unknown, but still reports files that run later", () => {
    const nowhere = { working_dir: null, file: null, real_path: null, plan: null, skill: null };
    const of = (path: string) => rulesOf(dangersOf(requested("Write", { file_path: path, content: "" }), nowhere));
    expect(of("/srv/me/project/src/a.ts")).toEqual([]);
    expect(of("/srv/me/project/.git/hooks/pre-commit")).toEqual(["settings"]);
  });

  test("treats a working directory below .claude like any other", () => {
    const of = (file_path: string) => {
      const input = { file_path, content: "" };
      const worktree = { ...here("Write", input), working_dir: "/work-dir/.claude/skills/x/" };
      return rulesOf(dangersOf(requested("Write", input), worktree));
    };
    expect(of("/work-dir/.claude/skills/x/src/a.ts")).toEqual([]);
    expect(of("/work-dir/.claude/skills/y/src/a.ts")).toEqual(["outside", "settings"]);
  });
});

function rules(tool_name: string, input: JsonObject, context: Partial<ApprovalContext> = {}): string[] {
  const nothing = { working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null };
  return dangersOf(requested(tool_name, input), { ...nothing, ...context }).map(({ rule }) => rule);
}

describe("the dangers of a call", () => {
  test("are those of the written path and of the real path", () => {
    const write = (file_path: string, real_path: string | null) =>
      rules("Write", { file_path, content: "x" }, { real_path });
    expect(write("/srv/project/a", "/srv/project/a")).toEqual([]);
    expect(write("/srv/project/docs/a", "/etc/a")).toEqual(["outside"]);
    expect(write("/srv/project/docs/a", "/srv/project/.git/hooks/a")).toEqual(["settings"]);
    expect(write("/srv/project/docs/keys", "/srv/me/.ssh/keys")).toEqual(["outside", "settings", "secrets"]);
    expect(write("/etc/a", "/srv/project/a")).toEqual(["outside"]);
  });

  test("include a path that can't be followed, if the working directory is known", () => {
    expect(rules("Write", { file_path: "/srv/project/loop/a", content: "x" })).toEqual(["unreadable"]);
    expect(rules("Read", { file_path: "/srv/project/docs/a" })).toEqual(["unreadable"]);
    expect(rules("Grep", { pattern: "x", path: "docs" })).toEqual(["unreadable"]);
    expect(rules("Write", { file_path: "/srv/project/a", content: "x" }, { working_dir: null })).toEqual([]);
  });

  test("include a skill, which allows more than the call, and a skill that can't be read", () => {
    expect(rules("Skill", { skill: "x" }, { skill: SKILL })).toEqual(["skill"]);
    expect(rules("Skill", { skill: "x" })).toEqual(["skill", "unreadable"]);
    expect(rules("Skill", { skill: "x" }, { skill: { ...SKILL, text: "a\u202eb" } })).toEqual(["skill", "hidden"]);
  });

  test("include a plan that can't be shown or has invisible characters", () => {
    expect(rules("ExitPlanMode", {}, { plan: "1. Do it" })).toEqual([]);
    expect(rules("ExitPlanMode", {})).toEqual(["unreadable"]);
    expect(rules("ExitPlanMode", {}, { plan: "1. \u200bDo it" })).toEqual(["hidden"]);
  });
});
