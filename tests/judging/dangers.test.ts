import { describe, expect, test } from "bun:test";
import { dangersOf } from "../../src/judging/dangers.ts";
import type { ApprovalContext } from "../../src/schema/approval-context.ts";
import type { JsonObject } from "../../src/schema/values.ts";

const here: ApprovalContext = { working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null };

function rules(tool_name: string, input: JsonObject, context: Partial<ApprovalContext> = {}): string[] {
  return dangersOf(ask(tool_name, input), { ...here, ...context }).map(({ rule }) => rule);
}

function ask(tool_name: string, input: JsonObject) {
  return {
    id: "id",
    session_id: "session",
    session_name: "worker",
    tool_name,
    tool_use_id: null,
    input,
    status: "pending",
    response_message: null,
    updated_input: null,
    created_at: 0,
    expires_at: 0,
    resolved_at: null,
    resolved_by: null,
  } as const;
}

describe("the dangers of a call", () => {
  test("are those of the path that is written, and of where it really leads", () => {
    const write = (file_path: string, real_path: string | null) =>
      rules("Write", { file_path, content: "x" }, { real_path });
    expect(write("/srv/project/a", "/srv/project/a")).toEqual([]);
    expect(write("/srv/project/docs/a", "/etc/a")).toEqual(["outside"]);
    expect(write("/srv/project/docs/a", "/srv/project/.git/hooks/a")).toEqual(["settings"]);
    expect(write("/srv/project/docs/keys", "/srv/me/.ssh/keys")).toEqual(["outside", "settings"]);
    expect(write("/etc/a", "/srv/project/a")).toEqual(["outside"]);
  });

  test("have a path among them that nobody can follow, where the host is known", () => {
    expect(rules("Write", { file_path: "/srv/project/loop/a", content: "x" })).toEqual(["unreadable"]);
    expect(rules("Write", { file_path: "/srv/project/a", content: "x" }, { working_dir: null })).toEqual([]);
  });

  test("have a skill among them, since it grants more than the call, and more so where it can't be read", () => {
    const skill = { path: "/srv/project/.claude/skills/x/SKILL.md", text: "do it" };
    expect(rules("Skill", { skill: "x" }, { skill })).toEqual(["skill"]);
    expect(rules("Skill", { skill: "x" })).toEqual(["unreadable", "skill"]);
    expect(rules("Skill", { skill: "x" }, { skill: { ...skill, text: "a\u202eb" } })).toEqual(["hidden", "skill"]);
  });

  test("have a plan among them that can't be shown, or hides something", () => {
    expect(rules("ExitPlanMode", {}, { plan: "1. Do it" })).toEqual([]);
    expect(rules("ExitPlanMode", {})).toEqual(["unreadable"]);
    expect(rules("ExitPlanMode", {}, { plan: "1. \u200bDo it" })).toEqual(["hidden"]);
  });
});
