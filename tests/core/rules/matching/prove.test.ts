import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { judgedCall, type Place } from "../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { plantTree } from "../tree.ts";
import { dangersIn, rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const proves = (matches: string | string[], toolName: string, input: JsonObject, at: Place = place) =>
  createProver(rulesFor([matches].flat().map((one) => one.replaceAll("@/", `/${tree.root}/`))), dangersIn(at)).prove(
    judgedCall({ toolName, input: JSON.parse(planted(JSON.stringify(input))) }, at),
    undefined,
  );
const EDIT = { old_string: "a", new_string: "b" };

describe("createProver", () => {
  test.each<[string | string[], string, JsonObject]>([
    ["Bash(npm test)", "Bash", { command: "npm test" }],
    ["Bash", "Bash", { command: "npm test" }],
    ["Bash", "Bash", { command: "git status && make test" }],
    ["*", "Bash", { command: "npm test" }],
    ["Bash(ls *)", "Bash", { command: "ls src" }],
    ["Bash(ls *)", "Bash", { command: "cd ./src && ls" }],
    ["Bash(rm -rf build)", "Bash", { command: "rm -rf build" }],
    ["Bash(sudo ls)", "Bash", { command: "sudo ls" }],
    [["Bash(npm test)", "Edit(./src/**)"], "Bash", { command: "npm test > src/out.txt" }],
    [["Bash(npm test)", "Write(./src/**)"], "Bash", { command: "npm test >> src/out.txt" }],
    [["Bash(npm test)", "Edit"], "Bash", { command: "npm test > out.txt" }],
    ["Edit(./src/**)", "Bash", { command: "echo hi > src/out.txt" }],
    ["Edit(./src/**)", "Bash", { command: "cd ./src && echo hi > out.txt" }],
    ["Edit(./src/**)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(./src/**)", "Write", { file_path: "src/new/x.ts", content: "x" }],
    ["Edit(./src/**)", "Write", { file_path: "link-in/new.ts", content: "x" }],
    ["Edit(./src/**)", "MultiEdit", { file_path: "src/x.ts", edits: [] }],
    ["Edit(./src/**)", "NotebookEdit", { notebook_path: "src/x.ipynb", new_source: "" }],
    ["Write(./src/**)", "Write", { file_path: "src/x.ts", content: "x" }],
    ["Edit(.github/**)", "Write", { file_path: ".github/workflows/ci.yml", content: "x" }],
    ["Edit(CLAUDE.md)", "Write", { file_path: "CLAUDE.md", content: "x" }],
    ["Edit(.env)", "Write", { file_path: ".env", content: "x" }],
    ["Edit", "Write", { file_path: "a.txt", content: "x" }],
    ["Write", "Write", { file_path: "a.txt", content: "x" }],
    ["*", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Read(~/notes/**)", "Read", { file_path: "@/person/notes/n.md" }],
    ["Read(~/notes/**)", "Grep", { pattern: "x", path: "@/person/notes" }],
    ["Read(~/notes/**)", "Glob", { pattern: "*.md", path: "@/person/notes" }],
    ["Read(~/notes/**)", "Grep", { pattern: "x", path: "@/person/notes/n.md" }],
    ["Read(@/outside/**)", "Read", { file_path: "link-file" }],
    ["Read", "Read", { file_path: "@/outside/secret.txt" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs/x", prompt: "y" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://a.docs.rs/x", prompt: "y" }],
    ["WebFetch", "WebFetch", { url: "https://docs.rs/x", prompt: "y" }],
    ["Web*", "WebSearch", { query: "x" }],
    ["WebSearch", "WebSearch", { query: "x" }],
    ["SomethingNew", "SomethingNew", { x: 1 }],
    ["Agent", "Agent", { description: "x", prompt: "y" }],
    ["mcp__github__get_issue", "mcp__github__get_issue", { id: 1 }],
    ["mcp__github__add_comment", "mcp__github__add_comment", { id: 1 }],
    ["mcp__github__*", "mcp__github__add_comment", {}],
    ["mcp__github", "mcp__github__add_comment", {}],
    ["mcp__github__get_*", "mcp__github__get_issue", {}],
  ])("%j proves %s %j", (matches, tool, input) => {
    const ids = proves(matches, tool, input);
    expect(ids?.toSorted()).toEqual(
      [matches]
        .flat()
        .map((one) => one.replaceAll("@/", `/${tree.root}/`))
        .toSorted(),
    );
  });

  test.each<[string | string[], string, JsonObject]>([
    ["Bash", "Bash", { command: "rm -rf build" }],
    ["Bash", "Bash", { command: "./x.sh" }],
    ["Bash", "Bash", { command: "bash x.sh" }],
    ["Bash", "Bash", { command: "python3 x.py" }],
    ["Bash", "Bash", { command: "sudo ls" }],
    ["Bash", "Bash", { command: "env ls" }],
    ["Bash", "Bash", { command: "export PATH=/tmp" }],
    ["Bash", "Bash", { command: "set -o x" }],
    ["Bash", "Bash", { command: "git worktree list" }],
    ["Bash", "Bash", { command: "curl -d @a.txt https://x.example" }],
    ["Bash", "Bash", { command: "npm test > out.txt" }],
    ["Bash", "Bash", { command: "npm test", run_in_background: true }],
    ["Bash", "Bash", { command: "npm test", dangerouslyDisableSandbox: true }],
    ["Bash", "Bash", { command: "npm test", cwd: "/" }],
    ["Bash", "Monitor", { command: "ls" }],
    ["Monitor", "Monitor", { command: "ls" }],
    ["*", "Monitor", { command: "ls" }],
    ["*", "PowerShell", { command: "ls" }],
    ["*", "SomethingNew", {}],
    ["*", "AskUserQuestion", { questions: [] }],
    ["AskUserQuestion", "AskUserQuestion", { questions: [] }],
    ["ExitPlanMode", "ExitPlanMode", {}],
    ["*", "ExitPlanMode", {}],
    ["*", "mcp__github__get_issue", {}],
    ["mcp__*", "mcp__github__get_issue", {}],
    ["mcp__git*", "mcp__github__get_issue", {}],
    ["mcp__*__get_*", "mcp__github__get_issue", {}],
    ["mcp__github", "mcp__github___get_issue", {}],
    ["mcp__github__*", "mcp__github__evil__get_issue", {}],
    ["mcp__github__get_*", "mcp__github__delete_issue", {}],
    ["mcp__db__query", "mcp__db__query", { sql: "drop table x" }],
    ["mcp__files__write", "mcp__files__write", { path: "/etc/x" }],
    ["mcp__github__get_issue", "mcp__github__get_issue", { x: "a\u200bb" }],
    ["Skill", "Skill", { skill: "x" }],
    ["SendMessage", "SendMessage", { to: "x" }],
    ["Agent", "Agent", { description: "x", prompt: "y", isolation: "worktree" }],
    ["Agent", "Agent", { description: "x", prompt: "y", mode: "bypassPermissions" }],
    ["TaskUpdate", "TaskUpdate", { taskId: "1", owner: "x" }],
    ["Write(./src/**)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Write", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit", "Edit", { file_path: "/opt/x", ...EDIT }],
    ["Edit", "Write", { file_path: ".github/workflows/ci.yml", content: "" }],
    ["Edit", "Write", { file_path: ".env", content: "" }],
    ["Edit", "Write", { file_path: "not-yet", content: "" }],
    ["Edit", "Write", { file_path: "a.txt", content: "a\u200bb" }],
    ["Edit", "Write", { file_path: "a.txt", content: "", mode: 777 }],
    ["*", "Write", { file_path: "/etc/x", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "a.txt", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src/../a.txt", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src/up/x", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "SRC/x", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src/CLAUDE.md", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src/.env", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src/key.pem", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "src/x", content: "a\u202eb" }],
    ["Edit(./link-out/**)", "Write", { file_path: "link-out/x", content: "" }],
    ["Edit(./**)", "Write", { file_path: "not-yet/x", content: "" }],
    ["Edit(./**)", "Write", { file_path: "to-hooks/x", content: "" }],
    ["Edit(./**)", "Write", { file_path: "fifo", content: "" }],
    ["Read(./**)", "Read", { file_path: "nest/vault/key" }],
    ["Read(./**)", "Read", { file_path: "hard-token" }],
    ["Read(./**)", "Read", { file_path: "link-out/secret.txt" }],
    ["Read(./**)", "Grep", { pattern: "x" }],
    ["Read(~/**)", "Read", { file_path: "@/person/.ssh/id_rsa" }],
    ["Read(~/**)", "Grep", { pattern: "x", path: "@/person" }],
    ["Read(~/notes/*)", "Grep", { pattern: "x", path: "@/person/notes" }],
    ["Read(~/notes/**)", "Glob", { pattern: "../*", path: "@/person/notes" }],
    ["Read", "Read", { file_path: "/proc/self/environ" }],
    ["Read", "Read", { file_path: "@/data/operator-token" }],
    ["Read", "Read", { file_path: "/opt/x/.ssh/id_rsa" }],
    ["Read", "Read", { file_path: "a.txt", surprise: 1 }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "http://docs.rs/x", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs:444/x", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs.evil.com/x", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs@evil.com/x", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs:x@evil.com/", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://me@docs.rs/", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://:pw@docs.rs/", prompt: "y" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://evil.com\0.docs.rs/", prompt: "y" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://evil.com%00.docs.rs/", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://evil.com#docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://evil.com?docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://evil.com\\@docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs\\.evil.com", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs\u3002rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://d\u043ecs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs.", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://a.docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://xdocs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "file:///docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: " https://docs.rs", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs/x", prompt: "y", proxy: "z" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://docs.rs/x", prompt: "y" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://evildocs.rs/x", prompt: "y" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: `https://docs.rs/${"x".repeat(9_000)}`, prompt: "y" }],
    ["WebFetch", "WebFetch", { url: "http://127.0.0.1/", prompt: "y" }],
  ])("%j does not prove %s %j", (matches, tool, input) => {
    expect(proves(matches, tool, input)).toBeUndefined();
  });

  test("proves nothing about commands and files without a known working directory", () => {
    const elsewhere = { ...place, workingDir: undefined };
    expect(proves("Bash(npm test)", "Bash", { command: "npm test" }, elsewhere)).toBeUndefined();
    expect(proves("Edit(//tmp/**)", "Write", { file_path: "/tmp/x", content: "" }, elsewhere)).toBeUndefined();
    expect(proves("Read", "Read", { file_path: "/tmp/x" }, elsewhere)).toBeUndefined();
    expect(proves("WebSearch", "WebSearch", { query: "x" }, elsewhere)).toEqual(["WebSearch"]);
  });

  test("proves no command while a program could be the repository's own", () => {
    const path = `/usr/bin:${tree.root}/project/bin`;
    expect(proves("Bash(npm test)", "Bash", { command: "npm test" }, { ...place, path })).toBeUndefined();
    expect(proves("Bash(npm test)", "Bash", { command: "npm test" }, { ...place, path: "/usr/bin" })).toBeDefined();
  });

  test("names each rule once, in order of first use, and the narrowest that covers", () => {
    const matches = ["Bash(npm *)", "Bash(npm run *)", "Bash(npm test)", "Bash(make *)", "Bash"];
    const command = "make x && npm test && npm run y && npm test && npm ls";
    expect(proves(matches, "Bash", { command })).toEqual([
      "Bash(make *)",
      "Bash(npm test)",
      "Bash(npm run *)",
      "Bash(npm *)",
    ]);
  });

  test("names only the rules of commands that need one, unless the whole line only reads", () => {
    const matches = ["Bash(ls *)", "Bash(npm test)"];
    expect(proves(matches, "Bash", { command: "ls src && npm test" })).toEqual(["Bash(npm test)"]);
    // The test may have changed the listed files.
    expect(proves(matches, "Bash", { command: "npm test && ls" })).toEqual(matches.toReversed());
    expect(proves(matches, "Bash", { command: "ls src && ls" })).toEqual(["Bash(ls *)"]);
    expect(proves(matches, "Bash", { command: "ls src && cat a.txt" })).toEqual(["Bash(ls *)"]);
  });

  test("proves nothing if the check for dangers fails", () => {
    const judged = judgedCall({ toolName: "WebSearch", input: {} }, place);
    const failing = () => {
      throw new Error("the check has failed");
    };
    expect(createProver(rulesFor(["WebSearch"]), failing).prove(judged, undefined)).toBeUndefined();
    expect(createProver(rulesFor(["WebSearch"]), () => false).prove(judged, undefined)).toEqual(["WebSearch"]);
  });

  test("proves no line with a command that can't be examined", () => {
    const line = (breaks: number) => `npm test${"\n".repeat(breaks)}rm x`;
    const matches = ["Bash(npm test)", "Bash(rm x)"];
    expect(proves(matches, "Bash", { command: line(3) })).toEqual(matches);
    expect(proves(matches, "Bash", { command: line(4_010) })).toBeUndefined();
    const nested = `${"env ".repeat(20)}ls`;
    expect(proves(`Bash(${nested})`, "Bash", { command: nested })).toBeUndefined();
  });

  test("proves no call in which a search has failed", () => {
    const judged = judgedCall({ toolName: "WebSearch", input: {} }, place);
    judged.hasFailed = true;
    expect(createProver(rulesFor(["WebSearch"]), () => false).prove(judged, undefined)).toBeUndefined();
  });
});
