import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../../src/contract/values.ts";
import { builtinRule } from "../../../../../src/core/rules/builtin/builtin.ts";
import { createFinder } from "../../../../../src/core/rules/matching/find.ts";
import { judgedCall } from "../../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../../src/core/rules/matching/prove.ts";
import { plantTree } from "../../tree.ts";
import { rulesFor } from "../judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const withheldBy = (...matches: string[]) => createFinder(rulesFor(matches)).withheld(tree.child);
const builtin = (toolName: string, input: JsonObject, ...matches: string[]) =>
  builtinRule({ toolName, input }, { ...tree.child, withheld: withheldBy(...matches) });

describe("what rules withhold", () => {
  test.each<[string, string, JsonObject]>([
    ["Read(./src/**)", "Read", { file_path: "src/x.ts" }],
    ["Read(./src/**)", "Read", { file_path: "link-in/x.ts" }],
    ["Read(./src/**)", "Grep", { pattern: "x", path: "src/deep" }],
    ["Read(./src/**)", "Glob", { pattern: "*.ts", path: "src" }],
    ["Read(./src/deep/**)", "Grep", { pattern: "x", path: "src" }],
    ["Read(./src/**)", "Bash", { command: "cat src/x.ts" }],
    ["Read(./src/**)", "Bash", { command: "ls src" }],
    ["Read(./src/deep/**)", "Bash", { command: "grep -r x src" }],
    ["Read(*.md)", "Bash", { command: "head docs/readme.md" }],
    ["Read(*.md)", "Grep", { pattern: "x", path: "docs" }],
    ["Read", "Bash", { command: "cat a.txt" }],
  ])("%s keeps the built-in rules from %s %j", (match, tool, input) => {
    expect(builtin(tool, input)).toBeDefined();
    expect(builtin(tool, input, match)).toBeUndefined();
  });

  test.each<[string, string, JsonObject]>([
    ["Read(./src/**)", "Read", { file_path: "a.txt" }],
    ["Read(./src/**)", "Grep", { pattern: "x", path: "docs" }],
    ["Read(./src/**)", "Bash", { command: "cat a.txt && ls docs" }],
    ["Edit(./src/**)", "Read", { file_path: "src/x.ts" }],
    ["Read(*.md)", "Bash", { command: "ls docs" }],
    ["Read", "Bash", { command: "echo hi && pwd" }],
  ])("%s leaves the built-in rules %s %j", (match, tool, input) => {
    expect(builtin(tool, input, match)).toBeDefined();
  });

  test.each<[string, string, string]>([
    ["Bash(cat *)", "Read(./src/**)", "cat link-in/x.ts"],
    ["Bash(cat src/x.ts)", "Read(./src/**)", "cat src/x.ts"],
    ["Bash(git *)", "Read(./src/deep/**)", "git diff src"],
    ["Bash(tool *)", "Read(*.md)", "tool --input=docs/readme.md"],
  ])("%s proves nothing around a rule on %s: %s", (allow, deny, command) => {
    const prover = createProver(rulesFor([allow]), () => false);
    const judged = () => judgedCall({ toolName: "Bash", input: { command } }, tree.child);
    expect(prover.prove(judged(), undefined)).toEqual([allow]);
    expect(prover.prove(judged(), withheldBy(deny))).toBeUndefined();
  });

  test.each<[string, string, boolean]>([
    ["Read(./deep/**)", "git show HEAD", false],
    ["Read(@/project/docs/**)", "git show HEAD", false],
    ["Read(@/project/docs/**)", "git show HEAD:docs/readme.md", false],
    ["Read(@/project/docs/**)", "git show HEAD:src/x.ts", true],
    ["Read(@/project/docs/**)", "git log -p -- x.ts", true],
    ["Read(@/outside/**)", "git show HEAD", true],
  ])("a rule on %s, in a directory of a repository: whether %s is proven: %p", (deny, command, isProven) => {
    const place = { ...tree.child, workingDir: `${tree.root}/project/src` };
    const match = deny.replaceAll("@/", `/${tree.root}/`);
    const judged = judgedCall({ toolName: "Bash", input: { command } }, place);
    const withheld = createFinder(rulesFor([match])).withheld(place);
    const prover = createProver(rulesFor(["Bash(git *)"]), () => false);
    expect(prover.prove(judged, withheld) !== undefined).toBe(isProven);
  });

  test.each([
    "git diff",
    "cd docs && git log -p -- readme.md",
    "cd $X && git show HEAD:docs/readme.md",
    "git -C docs blame readme.md",
    "git log $X",
    "bash -c 'git show'",
    "git -c alias.x='log -p' x",
  ])("suspects %s, which no bare name covers then", (command) => {
    const judged = judgedCall({ toolName: "Bash", input: { command } }, tree.child);
    expect(createFinder(rulesFor(["Read(.env)"])).suspects(judged)).toBe(true);
  });
});
