import { describe, expect, test } from "bun:test";
import { coverageNote, coverageNotes } from "../../../../../src/core/rules/matching/coverage-note.ts";
import { readMatch } from "../../../../../src/core/rules/matching/pattern.ts";

function noteOn(match: string, decision: "allow" | "deny" | "ask" = "allow"): string | undefined {
  const read = readMatch(match);
  if ("problem" in read) throw new Error(`${match} ${read.problem}`);
  return coverageNote(decision, match, read.pattern);
}

describe("a rule to allow says", () => {
  test.each([
    ["Bash(rm -rf *)", "a wildcard never covers a dangerous command: give the exact words"],
    ["Bash(sudo *)", "a wildcard never covers a shell, an interpreter, or a program"],
    ["Bash(python *)", "a wildcard never covers a shell, an interpreter, or a program"],
    ["Bash(cd *)", "a change of directory is never covered"],
    ["AskUserQuestion", "somebody answers such a call each time"],
    ["ExitPlanMode", "somebody answers such a call each time"],
    ["Monitor", "a command of another tool than Bash always asks"],
    ["mcp__*", "name the server whose tools are meant"],
    ["mcp__git*", "name the server whose tools are meant"],
    ["Notes*", "no tool that Plexus knows has such a name"],
  ])("of %s that it allows nothing, and why", (match, why) => {
    expect(noteOn(match)).toStartWith(`It allows nothing: ${why}`);
  });

  test.each([
    ["Bash", ["raise a danger", "redirects", "variables"], ["hold credentials", "MCP"]],
    ["Bash(*)", ["raise a danger"], ["hold credentials"]],
    ["Bash(npm run *)", ["redirects to files", "options that may run", "a danger"], ["hold credentials"]],
    ["Bash(git status:*)", ["redirects to files"], ["MCP"]],
    ["Edit", ["edits of files that control programs"], ["raise a danger"]],
    ["Write", ["edits of files that control programs"], ["raise a danger"]],
    ["Edit(./**)", ["files that control programs"], ["raise a danger"]],
    ["*", ["raise a danger", "edits of files", "MCP servers", "tools that Plexus does not know"], []],
    ["Multi*", ["edits of files", "MCP servers"], ["raise a danger"]],
  ])("of %s what it leaves out", (match, named, others) => {
    const note = noteOn(match) ?? "";
    expect(note).toMatch(/^It does not allow .*: these still ask\.$/);
    for (const one of named) expect(note).toContain(one);
    for (const other of others) expect(note).not.toContain(other);
  });

  test.each([
    "Bash(npm test)",
    "Bash(rm -rf build)",
    "Edit(./src/**)",
    "Read(~/notes/**)",
    "WebFetch(domain:docs.rs)",
    "WebSearch",
    "mcp__github__get_*",
    "mcp__github",
  ])("nothing of %s, which is what it looks like", (match) => {
    expect(noteOn(match)).toBeUndefined();
  });
});

test("a deny or ask rule finds its target anywhere in a call, and needs no note", () => {
  for (const match of ["Bash(rm -rf *)", "Bash(sudo *)", "Bash", "*"])
    for (const decision of ["deny", "ask"] as const) expect(noteOn(match, decision)).toBeUndefined();
});

describe("of several rules", () => {
  const notesOn = (...matches: string[]) =>
    coverageNotes(
      matches.map((match) => {
        const read = readMatch(match);
        if ("problem" in read) throw new Error(`${match} ${read.problem}`);
        return { decision: "allow", match, pattern: read.pattern };
      }),
    );

  test("rules with the same limits share a sentence, and rules without limits have none", () => {
    const said = notesOn("Bash(npm run *)", "Bash(npm test)", "Bash(git diff *)", "Bash(rm -rf *)", "Edit(./src/**)");
    expect(said).toEqual([
      expect.stringMatching(/^rules "Bash\(npm run \*\)", "Bash\(git diff \*\)" do not allow redirects .*still ask\.$/),
      expect.stringMatching(/^rules "Bash\(rm -rf \*\)" allows nothing: a wildcard never covers a dangerous command/),
    ]);
    expect(notesOn("Bash(npm test)")).toEqual([]);
  });

  test("the notes stay short for any number of rules", () => {
    const said = notesOn(...Array.from({ length: 100 }, (_, at) => `Bash(tool${at} ${"x".repeat(900)} *)`));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(" and 97 more do not allow ");
    expect(said.join("").length).toBeLessThan(600);
  });
});
