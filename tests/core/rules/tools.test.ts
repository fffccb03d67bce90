import { afterAll, describe, expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { builtinRule } from "../../../src/core/rules/builtin/builtin.ts";
import { plantTree } from "./tree.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

/** `@/x` stands for a path in the planted tree. */
const planted = (input: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(input).replaceAll('"@/', `"${tree.root}/`));
const rule = (toolName: string, input: JsonObject, child = tree.child) =>
  builtinRule({ toolName, input: planted(input) }, child);

describe("the rule read", () => {
  test.each<JsonObject>([
    { file_path: "@/project/a.txt" },
    { file_path: "@/project/none.txt" },
    { file_path: "@/project/none/at-all.txt" },
    { file_path: "a.txt" },
    { file_path: "./src/x.ts" },
    { file_path: "@/project/src/deep/z.ts", offset: 1, limit: 20 },
    { file_path: "@/project/src/x.ts", pages: "1-2", allow_large: true },
    { file_path: "@/project" },
    { file_path: "@/project/link-in/x.ts" },
    { file_path: "@/project/link-absolute" },
    { file_path: "@/added/c.txt" },
    { file_path: "../added/c.txt" },
    { file_path: "@/added/link-project/a.txt" },
    { file_path: "@/project/with space.txt" },
    { file_path: "\u00e9.txt" },
    { file_path: "@/project//src/./x.ts" },
    { file_path: "@/project/nest/open.txt" },
  ])("lets a child read %j in both modes", (input) => {
    expect(rule("Read", input)).toBe("read");
    expect(rule("Read", input, tree.strict)).toBe("read");
  });

  test.each<[string, JsonObject]>([
    ["is outside", { file_path: "@/outside/secret.txt" }],
    ["is outside by its name", { file_path: "/etc/passwd" }],
    ["goes up and out", { file_path: "../outside/secret.txt" }],
    ["only begins like the working directory", { file_path: "@/project-sibling/s.txt" }],
    ["is a link that leads out", { file_path: "@/project/link-file" }],
    ["is behind a link that leads out", { file_path: "@/project/link-out/secret.txt" }],
    ["is behind a link in a directory", { file_path: "@/project/src/up/secret.txt" }],
    ["goes up behind a link", { file_path: "@/project/link-out/../outside/secret.txt" }],
    ["goes up behind a directory", { file_path: "@/project/src/../a.txt" }],
    ["is a link to itself", { file_path: "@/project/loop" }],
    ["is a link to nothing", { file_path: "@/project/dangling" }],
    ["does not exist, and has a name for which Claude Code would try another", { file_path: "@/project/1 AM.png" }],
    ["does not exist, outside", { file_path: "@/outside/none.txt" }],
    ["does not exist, in a private directory", { file_path: "@/data/none.txt" }],
    ["is private", { file_path: "@/data/operator-token" }],
    ["is private, inside", { file_path: "@/project/nest/vault/key" }],
    ["is the private directory", { file_path: "@/project/nest/vault" }],
    ["is a copy of something private", { file_path: "@/project/nest/vault.backup" }],
    ["does not exist, and would be a copy of something private", { file_path: "@/project/not-yet.1.backup" }],
    ["is private behind a link", { file_path: "@/project/link-token" }],
    ["is private under another name", { file_path: "@/project/hard-token" }],
    ["is a file of settings", { file_path: "@/person/.claude/settings.json" }],
    ["is a fifo", { file_path: "@/project/fifo" }],
    ["is a device", { file_path: "/dev/zero" }],
    ["is a device behind a link", { file_path: "@/project/link-dev" }],
    ["is the environment", { file_path: "/proc/self/environ" }],
    ["is the environment behind a link", { file_path: "@/project/link-proc" }],
    ["goes through what differs between processes", { file_path: "@/project/link-cwd/package.json" }],
    ["begins with a tilde", { file_path: "~/notes/n.md" }],
    ["is called tilde", { file_path: "~" }],
    ["begins with a blank, which is trimmed", { file_path: " link-file" }],
    ["ends with a blank, which is trimmed", { file_path: "a.txt " }],
    ["is composed of other characters", { file_path: "e\u0301.txt" }],
    ["is another path once it is composed", { file_path: "o\u0308.txt" }],
    ["has a NUL", { file_path: "a.txt\u0000" }],
    ["has a line break", { file_path: "a.txt\n" }],
    ["has a tab", { file_path: "tab\there" }],
    ["has an invisible character", { file_path: "a\u200b.txt" }],
    ["is empty", { file_path: "" }],
    ["is not text", { file_path: 7 }],
    ["is a list", { file_path: ["a.txt"] }],
    ["is too long", { file_path: "./".repeat(3_000) }],
    ["is left out", {}],
    ["comes with an unknown key", { file_path: "a.txt", follow: true }],
    ["comes with a value of the wrong type", { file_path: "a.txt", limit: "1" }],
    ["comes with null instead of a number", { file_path: "a.txt", limit: null }],
  ])("asks when the path %s", (_, input) => {
    expect(rule("Read", input)).toBeUndefined();
    expect(rule("Read", input, tree.strict)).toBeUndefined();
  });

  test("asks when a key is one of the prototype's", () => {
    const input = JSON.parse('{"file_path":"a.txt","__proto__":{"x":1}}');
    expect(rule("Read", { file_path: "a.txt" })).toBe("read");
    expect(builtinRule({ toolName: "Read", input }, tree.child)).toBeUndefined();
  });

  test("asks when only the prototype has the path", () => {
    expect(builtinRule({ toolName: "Read", input: Object.create({ file_path: "a.txt" }) }, tree.child)).toBeUndefined();
  });

  test.each(["read", "READ", "Read ", "Read\n", "R\u0435ad", "NotebookRead", "LS", "__proto__", "constructor", ""])(
    "asks about a tool called %j",
    (toolName) => {
      expect(rule(toolName, { file_path: "a.txt" })).toBeUndefined();
    },
  );

  test("follows a link to its present target, not to an earlier one", () => {
    const link = join(tree.child.workingDir, "turning");
    symlinkSync("a.txt", link);
    expect(rule("Read", { file_path: "turning" })).toBe("read");
    rmSync(link);
    symlinkSync("../outside/secret.txt", link);
    expect(rule("Read", { file_path: "turning" })).toBeUndefined();
    rmSync(link);
  });

  test("asks about everything when the working directory does not exist", () => {
    const child = { ...tree.child, workingDir: join(tree.root, "gone") };
    expect(rule("Read", { file_path: "@/project/a.txt" }, child)).toBeUndefined();
  });

  test("asks about everything inside a private directory, even if it is the working directory", () => {
    const child = { ...tree.child, workingDir: join(tree.root, "data") };
    expect(rule("Read", { file_path: "@/data/turns/mcp.json" }, child)).toBeUndefined();
  });

  test("finds a private path by its identity when it is named through a link", () => {
    const child = { ...tree.child, privatePaths: [join(tree.root, "project/link-in")] };
    expect(rule("Read", { file_path: "@/project/src/x.ts" }, child)).toBeUndefined();
    expect(rule("Read", { file_path: "@/project/a.txt" }, child)).toBe("read");
  });

  test("never allows /proc, /dev or /sys, even if the whole file system is inside", () => {
    const child = { ...tree.child, workingDir: "/" };
    expect(rule("Read", { file_path: "@/outside/secret.txt" }, child)).toBe("read");
    for (const file_path of ["/proc/self/environ", "/proc/version", "/dev/null", "/sys/kernel/notes"]) {
      expect(rule("Read", { file_path }, child)).toBeUndefined();
    }
  });
});

describe("the rule search", () => {
  test.each<[string, JsonObject]>([
    ["Glob", { pattern: "**/*.ts", path: "@/project/src" }],
    ["Glob", { pattern: "*.{ts,tsx}", path: "src" }],
    ["Glob", { pattern: "src/**/*.md", path: "@/project/docs" }],
    ["Glob", { pattern: ".github/*.yml", path: "./docs" }],
    ["Glob", { pattern: "*", path: "@/added" }],
    ["Grep", { pattern: "TODO", path: "src" }],
    ["Grep", { pattern: "a|b", path: "a.txt", output_mode: "content", "-n": true, "-i": true, "-A": 2 }],
    ["Grep", { pattern: "../etc", path: "src", glob: "*.{ts,tsx}", type: "ts", head_limit: 5, multiline: true }],
    ["Grep", { pattern: "x", path: "@/project/link-in", "-o": true, context: 1, offset: 2, "-B": 1, "-C": 1 }],
  ])("lets %s %j run in both modes", (tool, input) => {
    expect(rule(tool, input)).toBe("search");
    expect(rule(tool, input, tree.strict)).toBe("search");
  });

  test.each<[string, JsonObject]>([
    ["Glob", { pattern: "/etc/*", path: "src" }],
    ["Glob", { pattern: "../**", path: "src" }],
    ["Glob", { pattern: "deep/../../*", path: "src" }],
    ["Glob", { pattern: "~/*", path: "src" }],
    ["Glob", { pattern: "{/etc,x}/*", path: "src" }],
    ["Glob", { pattern: ".{.,x}/*", path: "src" }],
    ["Glob", { pattern: "{..,x}/*", path: "src" }],
    ["Glob", { pattern: "{x,{/etc,y}}/*", path: "src" }],
    ["Glob", { pattern: ".*/x", path: "src" }],
    ["Glob", { pattern: ".?/x", path: "src" }],
    ["Glob", { pattern: "[.][.]/x", path: "src" }],
    ["Glob", { pattern: "\\..", path: "src" }],
    ["Glob", { pattern: "@(..)/x", path: "src" }],
    ["Glob", { pattern: "", path: "src" }],
    ["Glob", { pattern: "*\u0000", path: "src" }],
    ["Glob", { pattern: "*", path: "@/outside" }],
    ["Glob", { pattern: "*", path: "link-out" }],
    ["Glob", { pattern: "*", path: "a.txt" }],
    ["Glob", { pattern: "*", path: "/" }],
    ["Glob", { pattern: "*", path: ".." }],
    ["Glob", { pattern: "*", path: "~" }],
    ["Glob", { pattern: "**/*.ts" }],
    ["Glob", { pattern: "*", path: "nest" }],
    ["Glob", { pattern: "*", path: "nest/vault" }],
    ["Glob", { pattern: "*", path: "src", root: "/" }],
    ["Glob", { path: "src" }],
    ["Grep", { pattern: "x" }],
    ["Grep", { pattern: "x", path: "nest" }],
    ["Grep", { pattern: "x", path: "@/project" }],
    ["Grep", { pattern: "x", path: "link-file" }],
    ["Grep", { pattern: "x", path: "ignoring" }],
    ["Glob", { pattern: "*", path: "ignoring" }],
    ["Grep", { pattern: "x", path: "@/data" }],
    ["Grep", { pattern: "x", path: "fifo" }],
    ["Grep", { pattern: "x", path: "hard-token" }],
    ["Grep", { pattern: "x", path: "src", glob: "../*" }],
    ["Grep", { pattern: "x", path: "src", glob: "--pre=sh" }],
    ["Grep", { pattern: "x", path: "src", glob: "--follow" }],
    ["Grep", { pattern: "x", path: "src", glob: "* --pre=sh" }],
    ["Grep", { pattern: "x", path: "src", type: "--pre" }],
    ["Grep", { pattern: "x", path: "src", pre: "sh" }],
    ["Grep", { pattern: "x", path: "src", "-A": "1" }],
    ["Search", { pattern: "x", path: "src" }],
  ])("asks about %s %j", (tool, input) => {
    expect(rule(tool, input)).toBeUndefined();
  });

  test("allows a search of the working directory when nothing private is below it", () => {
    const child = { ...tree.child, privatePaths: [join(tree.root, "data")] };
    expect(rule("Grep", { pattern: "x" }, child)).toBe("search");
    expect(rule("Glob", { pattern: "**/*.ts" }, child)).toBe("search");
  });

  test("does not allow a search of a directory in which a private path could appear later", () => {
    const child = { ...tree.child, privatePaths: [join(tree.root, "project/docs/later/token")] };
    expect(rule("Grep", { pattern: "x", path: "docs" }, child)).toBeUndefined();
    expect(rule("Grep", { pattern: "x", path: "src" }, child)).toBe("search");
  });
});

describe("the rules bookkeeping and agent", () => {
  test.each<[string, JsonObject]>([
    ["ToolSearch", { query: "select:WebFetch", max_results: 5 }],
    ["TodoWrite", { todos: [{ content: "x", status: "pending", activeForm: "x" }] }],
    ["TaskCreate", { subject: "x", description: "y", metadata: { a: 1 } }],
    ["TaskGet", { taskId: "1" }],
    ["TaskList", {}],
    ["TaskUpdate", { taskId: "1", status: "completed", addBlocks: ["2"] }],
    ["TaskStop", { task_id: "b1" }],
  ])("let %s %j run in both modes", (tool, input) => {
    expect(rule(tool, input)).toBe("bookkeeping");
    expect(rule(tool, input, tree.strict)).toBe("bookkeeping");
  });

  test.each<[string, JsonObject]>([
    ["TaskUpdate", { taskId: "1", owner: "somebody" }],
    ["TaskList", { all: true }],
    ["TaskCreate", { subject: "x" }],
    ["ToolSearch", { query: "x", max_results: 5, run: true }],
    ["SendMessage", { to: "x", message: "y" }],
    ["ListAgents", {}],
    ["CronCreate", { cron: "* * * * *", prompt: "x" }],
    ["CronList", {}],
    ["ScheduleWakeup", { stop: true }],
    ["EnterWorktree", {}],
    ["EnterPlanMode", {}],
    ["ExitPlanMode", {}],
    ["RemoteTrigger", {}],
    ["Workflow", { script: "x" }],
    ["Skill", { skill: "x" }],
    ["AskUserQuestion", { questions: [] }],
    ["WebFetch", { url: "https://example.com", prompt: "x" }],
    ["WebSearch", { query: "x" }],
    ["Monitor", { command: "ls", description: "x", timeout_ms: 1 }],
    ["mcp__plexus__loopback_permit", {}],
    ["Write", { file_path: "a.txt", content: "x" }],
    ["Edit", { file_path: "a.txt", old_string: "a", new_string: "b" }],
  ])("do not cover %s %j", (tool, input) => {
    expect(rule(tool, input)).toBeUndefined();
  });

  test("let a child start an agent with its own rights, only in default", () => {
    const input = { description: "look", prompt: "look around" };
    expect(rule("Agent", input)).toBe("agent");
    expect(rule("Agent", { ...input, subagent_type: "Explore", run_in_background: true, model: "haiku" })).toBe(
      "agent",
    );
    expect(rule("Agent", input, tree.strict)).toBeUndefined();
  });

  test.each<JsonObject>([
    { subagent_type: "fork" },
    { subagent_type: "statusline-setup" },
    { subagent_type: "project-agent" },
    { isolation: "worktree" },
    { isolation: "remote" },
    { effort: "max" },
    { mode: "bypassPermissions" },
    { model: "--x" },
    { run_in_background: "yes" },
  ])("ask about an agent with %j", (extra) => {
    expect(rule("Agent", { description: "look", prompt: "look around", ...extra })).toBeUndefined();
  });
});
