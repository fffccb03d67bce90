import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readMatch } from "../../../../src/core/rules/matching/pattern.ts";

const problemOf = (match: string) => {
  const read = readMatch(match);
  return "problem" in read ? read.problem : undefined;
};

describe("readMatch", () => {
  test.each([
    "Bash",
    "Bash(*)",
    "Bash(:*)",
    "Bash(npm test)",
    "Bash(npm run *)",
    "Bash(npm run:*)",
    "Bash(rm *)",
    "Bash(rm -rf build)",
    "Bash(echo '*')",
    "Bash(git commit -m 'a b')",
    "Bash(./scripts/check.sh --all)",
    "Edit",
    "Edit(./src/**)",
    "Edit(/src/**)",
    "Edit(src/**/*.ts)",
    "Edit(*.md)",
    "Edit(package.json)",
    "Edit(.github/**)",
    "Write(./out/**)",
    "Read(~/notes/**)",
    "Read(//etc/hosts)",
    "Read(.env)",
    "NotebookEdit(./x.ipynb)",
    "WebFetch",
    "WebFetch(domain:docs.rs)",
    "WebFetch(domain:DOCS.rs)",
    "WebFetch(domain:*.docs.rs)",
    "WebFetch(domain:localhost)",
    "WebFetch(domain:b\u00fccher.example)",
    "WebSearch",
    "mcp__github",
    "mcp__github__*",
    "mcp__github__get_*",
    "mcp__github__get_issue",
    "mcp__*",
    "mcp__*__delete_*",
    "Web*",
    "*",
    "SomethingNew",
  ])("takes %s", (match) => {
    expect(problemOf(match)).toBeUndefined();
  });

  test.each<[string, string]>([
    ["", "is empty"],
    [" ", "is empty"],
    [" Bash", "blank"],
    ["Bash ", "blank"],
    ["Bash()", "write Bash"],
    ["bash(npm test)", "write Bash"],
    ["BASH", "write Bash"],
    ["webfetch(domain:x.y)", "write WebFetch"],
    ["Bash(", "no closing bracket"],
    ["Bash(npm run *", "no closing bracket"],
    ["Bash)", "not a tool's name"],
    ["Bash(x) y", "not a tool's name"],
    ["B\u0430sh", "not a tool's name"],
    ["Bash,Read", "not a tool's name"],
    ["(npm test)", "not a tool's name"],
    ["Bash(npm\u200b test)", "invisible"],
    ["Bash(n*)", "at the end"],
    ["Bash(npm*)", "at the end"],
    ["Bash(git * main)", "at the end"],
    ["Bash(* install)", "at the end"],
    ["Bash(npm t* *)", "at the end"],
    ["Bash(npm test && rm x)", "one command"],
    ["Bash(npm test > x)", "one command"],
    ["Bash(npm test | sh)", "one command"],
    ["Bash(npm test &)", "one command"],
    ["Bash(npm test $X)", "one command"],
    ["Bash(X=1 npm test)", "one command"],
    ["Bash(npm test; id)", "one command"],
    ["Bash(npm test\nid)", "one command"],
    ["Bash('npm' test)", "one command"],
    ["Edit(./src/)", "write ./src/**"],
    ["Edit(./src/../x)", ".."],
    ["Edit(../x)", ".."],
    ["Edit(./a//b)", "//"],
    ["Edit(~)", "~/"],
    ["Edit(~me/x)", "~/"],
    ["Edit($HOME/x)", "$"],
    ["Edit(./[ab])", "wildcards"],
    ["Edit(./{a,b})", "wildcards"],
    ["Edit(./a**)", "wildcards"],
    ["Edit(./**/**/**/x)", "wildcards"],
    ["Edit(C:\\x)", "wildcards"],
    ["Edit( x)", "blanks"],
    ["Grep(./src/**)", "Read("],
    ["Glob(*.ts)", "Read("],
    ["WebFetch(docs.rs)", "domain:docs.rs"],
    ["WebFetch(https://docs.rs)", "domain:"],
    ["WebFetch(domain:)", "domain:"],
    ["WebFetch(domain:*)", "domain:"],
    ["WebFetch(domain:docs.*)", "domain:"],
    ["WebFetch(domain:docs.rs/x)", "domain:"],
    ["WebFetch(domain:docs.rs:80)", "domain:"],
    ["WebFetch(domain:me@docs.rs)", "domain:"],
    ["mcp__github(x)", "write mcp__github"],
    ["Agent(Explore)", "write Agent"],
    ["WebSearch(x)", "write WebSearch"],
    [`Bash(${"x ".repeat(5_000)})`, "longer"],
  ])("refuses %j and says what to write", (match, words) => {
    expect(problemOf(match)).toContain(words);
  });

  test("never throws, and keeps the problem short", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 100 }), hostile()), (match) => {
        expect((problemOf(match) ?? "").length).toBeLessThan(300);
      }),
      { numRuns: 500 },
    );
  });
});

function hostile(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    ..."Bash Edit Read ( ) * ** / // ~ . .. : domain: mcp__ x - ' \" \\ [ { $ ; & |".split(" "),
    " ",
    "\n",
  );
  return fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
}
