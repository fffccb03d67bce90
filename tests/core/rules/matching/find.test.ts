import { afterAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall, type Place } from "../../../../src/core/rules/matching/judged-call.ts";
import { follow } from "../../../../src/files/real-path.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { plantTree } from "../tree.ts";
import { rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const elsewhere: Place = { ...place, workingDir: undefined };
const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const finds = (match: string | string[], toolName: string, input: JsonObject, at: Place = place) =>
  createFinder(rulesFor([match].flat().map(patternOf))).find(
    judgedCall({ toolName, input: JSON.parse(planted(JSON.stringify(input))) }, at),
  );
/** A pattern for an absolute path begins with two slashes. */
const patternOf = (text: string) => text.replaceAll("@/", `/${tree.root}/`);
const EDIT = { old_string: "a", new_string: "b" };

describe("createFinder", () => {
  test.each<[string, string, JsonObject]>([
    ["*", "Bash", { command: "ls" }],
    ["*", "SomethingNew", {}],
    ["Bash", "Bash", { command: "ls" }],
    ["Bash(*)", "Bash", {}],
    ["Bash", "Monitor", { command: "ls" }],
    ["Bash(rm *)", "Monitor", { command: "rm x" }],
    ["Bash(rm *)", "Bash", { command: "rm" }],
    ["Bash(rm:*)", "Bash", { command: "rm x y" }],
    ["Bash(rm x)", "Bash", { command: "rm -v x" }],
    ["Bash(rm x)", "Bash", { command: "rm x y" }],
    ["Bash(git push)", "Bash", { command: "git push origin main" }],
    ["Bash(git push)", "Bash", { command: "git -C x push" }],
    ["Bash(git push)", "Bash", { command: "git push -o x" }],
    ["Bash(git branch -D *)", "Bash", { command: "git branch --delete --force x" }],
    ["Bash(npm install -g *)", "Bash", { command: "npm install --global x" }],
    ["Bash(npm install --global *)", "Bash", { command: "npm install -g x" }],
    ["Bash(curl -X POST *)", "Bash", { command: "curl --request POST x" }],
    ["Bash(git commit --no-verify *)", "Bash", { command: "git commit -n -m x" }],
    ["Bash(kubectl delete *)", "Bash", { command: "kubectl -n prod delete pod x" }],
    ["Edit", "Write", { file_path: "x", content: "" }],
    ["Edit", "NotebookEdit", {}],
    ["Write", "Write", {}],
    ["Web*", "WebSearch", {}],
    ["mcp__*", "mcp__a__b", {}],
    ["mcp__github", "mcp__github__x", {}],
    ["mcp__github__*", "mcp__github___x", {}],
    ["mcp__*__delete_*", "mcp__a__delete_b", {}],
    ["Agent", "Task", {}],
    ["Edit(./docs/**)", "Edit", { file_path: "docs/readme.md", ...EDIT }],
    ["Edit(./docs/**)", "Write", { file_path: "@/project/docs/new.md", content: "" }],
    ["Edit(./docs/**)", "Write", { file_path: "src/../docs/x", content: "", surprise: true }],
    ["Edit(./docs/**)", "Write", { file_path: "DOCS/x", content: "" }],
    ["Edit(./src/**)", "Write", { file_path: "link-in/x", content: "" }],
    ["Edit(./link-in/**)", "Write", { file_path: "link-in/x", content: "" }],
    ["Write(./docs/**)", "Edit", { file_path: "docs/readme.md", ...EDIT }],
    ["Edit(./docs)", "Edit", { file_path: "docs/readme.md", ...EDIT }],
    ["Edit(*.md)", "Edit", { file_path: "docs/readme.md", ...EDIT }],
    ["Edit(*.md)", "Write", { file_path: "@/outside/x.md", content: "" }],
    ["Edit(~/**)", "Write", { file_path: "~/x", content: "" }],
    ["Edit(@/outside/**)", "Write", { file_path: "link-out/x", content: "" }],
    ["Edit(@/outside/**)", "Write", { file_path: "dangling", content: "" }],
    ["Edit(./x.ipynb)", "NotebookEdit", { notebook_path: "x.ipynb", new_source: "" }],
    ["Read(.env)", "Read", { file_path: ".env" }],
    ["Read(.env)", "Read", { file_path: "@/project/.env" }],
    ["Read(.env)", "Edit", { file_path: ".env", ...EDIT }],
    ["Read(./src/**)", "Grep", { pattern: "x", path: "src/deep" }],
    ["Read(./src/**)", "Glob", { pattern: "x", path: "@/project/src" }],
    ["Read(@/outside/**)", "Read", { file_path: "link-file" }],
    ["Read(./nest/vault)", "Read", { file_path: "nest/vault/key" }],
    ["Read(./src/**)", "NotebookRead", { notebook_path: "src/x.ipynb" }],
    ["Read(./src/**)", "LS", { path: "src/deep" }],
    ["Read(./src/**)", "LSP", { filePath: "src/x.ts" }],
    ["WebFetch", "WebFetch", {}],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs/x" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "http://DOCS.RS:8080/x" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs./x" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://me:pw@docs.rs/x" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "docs.rs/x" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://a.b.docs.rs/x" }],
    ["WebFetch(domain:127.0.0.1)", "WebFetch", { url: "http://127.1/" }],
    ["WebFetch(domain:b\u00fccher.example)", "WebFetch", { url: "https://xn--bcher-kva.example/" }],
  ])("%s is found in %s %j", (match, tool, input) => {
    expect(finds(match, tool, input)).toBe(patternOf(match));
  });

  test.each<[string, string, JsonObject]>([
    ["Bash", "BashOutput", {}],
    ["Bash(rm *)", "Bash", { command: "echo rm" }],
    ["Bash(rm *)", "mcp__a__b", { command: "rm x" }],
    ["Bash(git push *)", "Bash", { command: "git commit -m push" }],
    ["Bash(git push *)", "Bash", { command: "git log push" }],
    ["Bash(rm -rf *)", "Bash", { command: "rm -r x" }],
    ["Write", "Edit", {}],
    ["Read", "Bash", { command: "cat a.txt" }],
    ["mcp__git", "mcp__github__x", {}],
    ["mcp__github", "mcp__git__x", {}],
    ["Edit(./docs/**)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(./docs/**)", "Read", { file_path: "docs/readme.md" }],
    ["Edit(./docs/**)", "Bash", { command: "cat docs/readme.md" }],
    ["Edit(./docs/**)", "Bash", { command: "rm -r src" }],
    ["Edit(./docs/**)", "Bash", { command: "mv a.txt ." }],
    ["Edit(*.md)", "Bash", { command: "rm -r build" }],
    ["Edit(./doc)", "Edit", { file_path: "docs/readme.md", ...EDIT }],
    ["Read(.env)", "Read", { file_path: ".envrc" }],
    ["Read(.env)", "Write", { file_path: ".env", content: "" }],
    ["Read(./src/**)", "Grep", { pattern: "x" }],
    ["Read(./src/**)", "NotebookRead", { notebook_path: "docs/x.ipynb" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://a.docs.rs" }],
    ["WebFetch(domain:*.docs.rs)", "WebFetch", { url: "https://docs.rs" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs.evil.example" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://evil.example/docs.rs" }],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs@evil.example" }],
    ["WebFetch(domain:docs.rs)", "WebSearch", { url: "https://docs.rs" }],
  ])("%s is not found in %s %j", (match, tool, input) => {
    expect(finds(match, tool, input)).toBeUndefined();
  });

  test("names the first rule in the given order, of whatever kind", () => {
    const call: [string, JsonObject] = ["Bash", { command: "rm -rf x > docs/y" }];
    const matches = ["Bash(rm *)", "*", "Edit(./docs/**)", "Bash(rm -rf *)"];
    expect(matches.map((match) => finds([match, ...matches], ...call))).toEqual(matches);
  });

  test.each<[string, string, JsonObject]>([
    ["Bash(rm *)", "Bash", { command: "rm x" }],
    ["Edit(./docs/**)", "Write", { file_path: "docs/x", content: "" }],
    ["Edit(*.md)", "Write", { file_path: "/x/y.md", content: "" }],
    ["Read(~/x)", "Read", { file_path: "~/x" }],
    ["Read(.env)", "Bash", { command: "cat a/.env" }],
  ])("%s is found in %s %j where the working directory is not known", (match, tool, input) => {
    expect(finds(match, tool, input, elsewhere)).toBe(match);
  });
});

describe("where a search fails", () => {
  /** A call of which nothing can be parsed. */
  const unreadable = (toolName: string) => {
    const judged = judgedCall({ toolName, input: { command: "ls" } }, place);
    const fails = () => {
      throw new Error("the search has failed");
    };
    return { ...judged, started: fails, literal: fails };
  };

  test("nothing is found, and nothing is proven, because the call counts as not searched", () => {
    const judged = unreadable("Bash");
    expect(createFinder(rulesFor(["Bash(rm *)"])).find(judged)).toBeUndefined();
    expect(judged.hasFailed).toBe(true);
  });

  test("a deny rule might match", () => {
    expect(createFinder(rulesFor(["Bash(rm *)"])).suspects(unreadable("Bash"))).toBe(true);
    // Calls of other tools are not examined.
    expect(createFinder(rulesFor(["Bash(rm *)"])).suspects(unreadable("Read"))).toBe(false);
  });
});

test.each(["Write", "Read", "mcp__a__b", "SomethingNew"])(
  "a call of %s, which runs no command, is never suspected",
  (tool) => {
    const input = { command: "git $X", file_path: ".env" };
    const finder = createFinder(
      rulesFor(["Bash(git push *)", "Read(.env)", "Edit(./docs/**)", "WebFetch(domain:a.org)"]),
    );
    expect(finder.suspects(judgedCall({ toolName: tool, input }, place))).toBe(false);
    expect(finder.suspects(judgedCall({ toolName: "Monitor", input }, place))).toBe(true);
  },
);

describe("what a finder withholds", () => {
  const withheld = (match: string) => createFinder(rulesFor([patternOf(match)])).withheld(place);
  const found = (path: string) => {
    const one = follow(`${tree.root}/${path}`);
    if (!one) throw new Error(`${path} can't be followed`);
    return one;
  };

  test.each<[string, string]>([
    ["Read(.env)", "project/.env"],
    ["Read(.env)", "outside/.env"],
    ["Read(./src/**)", "project/src/x.ts"],
    ["Read(./src/**)", "project/link-in/x.ts"],
    ["Read(./SRC/**)", "project/src/x.ts"],
    ["Read(~/notes/**)", "person/notes/n.md"],
    ["Read(@/outside/**)", "project/link-file"],
    ["Read", "project/a.txt"],
    ["*", "project/a.txt"],
  ])("%s withholds %s", (match, path) => {
    expect(withheld(match).isPrivate(found(path))).toBe(true);
  });

  test.each<[string, string]>([
    ["Read(.env)", "project/a.txt"],
    ["Read(./src/**)", "project/docs/readme.md"],
    ["Edit(./src/**)", "project/src/x.ts"],
    ["Edit", "project/a.txt"],
    ["Bash(cat *)", "project/a.txt"],
  ])("%s does not withhold %s", (match, path) => {
    expect(withheld(match).isPrivate(found(path))).toBe(false);
  });

  test.each<[string, string, boolean]>([
    ["Read(./src/deep/**)", "project", true],
    ["Read(./src/deep/**)", "project/src", true],
    ["Read(./src/deep/**)", "project/src/deep", true],
    ["Read(./src/deep/**)", "project/docs", false],
    ["Read(./src/**/*.ts)", "project/src/deep", true],
    ["Read(.env)", "project/docs", false],
    ["Read(.env)", "project", true],
    ["Read(.ENV)", "project", true],
    ["Read(readme.md)", "project/docs", true],
    ["Read(*.md)", "project/docs", true],
    ["Read(*.md)", "project/src", false],
    ["Read(readme.md)", "project/src", false],
    ["Read(deep)", "project/src", true],
    ["Read(deep)", "project/src/deep", true],
    ["Read(./src/**/*.md)", "project/src", false],
    ["Read(./docs/*.md)", "project/docs", true],
    ["Read(./docs/*.txt)", "project/docs", false],
    ["Read(.env)", "project/link-in", false],
    ["Read(~/notes/**)", "person", true],
    ["Read(~/notes/**)", "project", false],
    ["Read(@/outside/x)", "", true],
    ["Read", "project/docs", true],
  ])("%s: whether it keeps a search of %s from being proven: %p", (match, path, holds) => {
    expect(withheld(match).holdsPrivate(found(path))).toBe(holds);
  });

  test("a search of too many files is not proven", async () => {
    await using many = await temporaryDirectory();
    const fill = (from: number, to: number) =>
      execFileSync("sh", ["-c", `mkdir -p below && cd below && seq ${from} ${to} | xargs touch`], { cwd: many.path });
    const holds = () => {
      const one = follow(many.path);
      return one && withheld("Read(.env)").holdsPrivate(one);
    };
    fill(1, 1_900);
    expect(holds()).toBe(false);
    fill(1_901, 2_000);
    expect(holds()).toBe(true);
  }, 60_000);
});
