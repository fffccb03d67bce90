import { afterAll, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { createDoubts } from "../../../../src/core/rules/matching/doubts.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { whyNotCovered } from "../../../../src/core/rules/matching/obstacles.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { plantTree } from "../tree.ts";
import { CHAINING } from "./corpus/chaining.ts";
import { RULES } from "./corpus/corpus.ts";
import { EVERYDAY } from "./corpus/everyday.ts";
import { OPTIONS } from "./corpus/options.ts";
import { PUBLISHED } from "./corpus/published.ts";
import { SPELLING } from "./corpus/spelling.ts";
import { WRAPPING } from "./corpus/wrapping.ts";
import { dangersIn, rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());
const { supervision: _, ...place } = tree.child;
const hasDangers = dangersIn(place);
symlinkSync(join(tree.root, "outside"), join(place.workingDir, "to-outside"));

/** Why none of these rules allows a call, in words for people; `undefined` if none seems to allow it. */
function why(matches: readonly string[], toolName: string, input: JsonObject, isSuspect = false): string | undefined {
  const rules = rulesFor(matches);
  const call = judgedCall({ toolName, input }, place);
  const isProven = createProver(rules, hasDangers).prove(call, undefined, isSuspect) !== undefined;
  const doubt = createDoubts(rules, hasDangers)(call, undefined, isSuspect);
  expect({ toolName, input, isBoth: isProven && doubt !== undefined }).toMatchObject({ isBoth: false });
  return doubt && whyNotCovered(doubt.id, doubt);
}

const bash = (match: string | string[], command: string) => why([match].flat(), "Bash", { command });

describe("a command needs approval although a rule seems to allow it, since", () => {
  test.each([
    ["Bash(npm run *)", "npm run build > out.log", "it writes to out.log (redirect)"],
    ["Bash(npm run *)", "npm run build && curl x.org", "no rule covers another part of it (curl x.org)"],
    ["Bash(npm run *)", "npm run build | tee log", "no rule covers another part of it (tee log)"],
    ["Bash(npm run *)", "npm run $SCRIPT", "it is not only literal words ($SCRIPT): variables"],
    ["Bash(npm run *)", "npm run x *.ts", "it is not only literal words (*.ts): "],
    ["Bash(npm run *)", "X=1 npm run x; npm run x", "it is not only literal words (X=1): "],
    ["Bash(npm run *)", "npm run x < a.txt", "it is not only literal words (< a.txt): "],
    ["Bash(npm run *)", "npm run x && npm run y > ../out.log", "it writes to ../out.log (redirect)"],
    ["Bash(npm run *)", "npm run x && cat a.txt > /opt/out", "it writes to /opt/out (redirect)"],
    ["*", "npm run x && npm run y > out.log", "a part of it could change what another part reads"],
    ["Bash(rm *)", "rm -rf ~", "it is dangerous, which no wildcard covers: it removes files (rm)"],
    ["*", "rm -rf $X", "it is dangerous, which no wildcard covers: it removes files (rm)"],
    ["Bash(npm run *)", "npm run build & echo x", "it is dangerous, which no wildcard covers: it keeps running"],
    ["Bash(npm run *)", "cd src && npm run build", "it changes the directory"],
    ["Bash(git push *)", "git push --receive-pack=x", "a wildcard never covers a shell, an interpreter, or a program"],
    ["Bash(go test *)", "go test -exec sh ./...", "a wildcard never covers .* that runs others (-exec)"],
    ["Bash(pytest *)", "pytest -q -p plugin", "a wildcard covers only options that are known to be harmless, not -p"],
    ["Bash(rm *)", "rm -rf x", "it is dangerous, which only exact words cover: it "],
    ["Bash(npm test)", "npm test --watch", "only its exact words are covered, not --watch"],
    ["Bash(touch *)", "touch to-outside/x", "it names a path that may lead elsewhere.*(to-outside/x)"],
    ["Bash(touch *)", "touch .git/hooks/pre-commit", "it names a path that may lead elsewhere"],
    ["Bash", "./run.sh", "a rule for all commands covers only programs by their plain names (./run.sh)"],
    ["Bash", "python x.py", "a wildcard never covers a shell, an interpreter"],
    ["*", "sudo ls", "a wildcard never covers a shell"],
    ["Bash(sudo *)", "sudo ls", "a wildcard never covers a shell"],
  ])("%s: %s: %s", (match, command, reason) => {
    const said = bash(match, command) ?? "none looks so";
    const [text = "", ...more] = reason.split(".*");
    expect(said).toStartWith(`${match} does not cover it: ${text}`);
    for (const part of more) expect(said).toContain(part);
  });

  test("the reason names the nearest of several rules, and the part of a line that is not allowed", () => {
    expect(bash(["Bash", "Bash(npm *)", "Bash(npm run *)"], "npm run x > y")).toStartWith("Bash(npm run *) does not");
    expect(bash(["Bash(npm run *)", "Bash(git push *)"], "npm run x && git push --exec=y")).toStartWith(
      "Bash(git push *) does not cover it: a wildcard never covers",
    );
  });

  test("the reason names arguments that always ask, and a deny rule that might match", () => {
    const background = { command: "npm run dev", run_in_background: true };
    expect(why(["Bash(npm run *)"], "Bash", background)).toEndWith(
      "it has arguments that always ask (run_in_background)",
    );
    expect(why(["Bash"], "Bash", { command: "npm run dev", timeout: "1s" })).toEndWith(
      "it has an argument of another type than the tool takes (timeout)",
    );
    expect(why(["Bash(npm run *)"], "Bash", { command: "npm run dev" }, true)).toEndWith(
      "a rule against something may be meant, so only exact words allow it",
    );
  });

  test("the reason names no unrelated rule, and there is none for an allowed call", () => {
    expect(bash(["Bash(npm run *)", "Edit"], "make all")).toBeUndefined();
    expect(bash("Bash(npm run *)", "npm run build")).toBeUndefined();
    expect(bash([], "make all")).toBeUndefined();
  });
});

describe("a call of another tool needs approval although a rule seems to allow it, since", () => {
  const edit = (file_path: string) => ({ file_path, old_string: "a", new_string: "b" });
  test.each([
    ["Edit(./**)", "Edit", edit(".npmrc"), "the file controls programs or holds credentials"],
    ["Edit(./**)", "Edit", edit("to-outside/secret.txt"), "its path really leads to .*/outside/secret.txt"],
    ["Edit", "Write", { file_path: ".git/config", content: "" }, "it is dangerous, which a rule for all such calls"],
    ["Read(./**)", "Read", { file_path: "absent.txt" }, "there is no such file"],
    ["Read(./**)", "Read", { file_path: "a.txt", odd: 1 }, "it has arguments that always ask (odd)"],
    [
      "Edit(./**)",
      "Edit",
      { file_path: "a.txt", old_string: "a" },
      "it lacks an argument that the tool needs (new_string)",
    ],
    ["Read", "Read", {}, "it lacks an argument that the tool needs (file_path)"],
    ["Monitor", "Monitor", { command: "ls" }, "a command of another tool than Bash always asks"],
    [
      "WebFetch(domain:docs.rs)",
      "WebFetch",
      { url: "https://docs.rs/x" },
      "it lacks an argument that the tool needs (prompt)",
    ],
    ["WebFetch(domain:docs.rs)", "WebFetch", { url: "https://docs.rs:8080/x", prompt: "" }, "its address is not plain"],
    ["AskUserQuestion", "AskUserQuestion", {}, "somebody answers such a call each time"],
    ["*", "mcp__github__get_issue", {}, "a star covers tools of an MCP server only where it names the server"],
    ["*", "Unheard", {}, "a star covers only tools that Plexus knows"],
    ["TodoWrite", "TodoWrite", { todos: [], odd: 1 }, "it has arguments that always ask (odd)"],
  ])("%s for %s %j: %s", (match, tool, input, reason) => {
    const said = why([match], tool, input) ?? "none looks so";
    const [text = "", ...more] = reason.split(".*");
    expect(said).toStartWith(`${match} does not cover it: ${text}`);
    for (const part of more) expect(said).toContain(part);
  });

  test("the reason names no rule for another call", () => {
    expect(why(["Edit(./src/**)"], "Edit", edit("docs/x.md"))).toBeUndefined();
    expect(why(["WebFetch(domain:docs.rs)"], "WebFetch", { url: "https://x.org", prompt: "" })).toBeUndefined();
    expect(why(["mcp__github__get_*"], "mcp__mail__send", {})).toBeUndefined();
  });
});

test("in the whole corpus, allowed calls have no reason to ask, and many of the others have one", () => {
  const corpora = [EVERYDAY, CHAINING, WRAPPING, OPTIONS, SPELLING, PUBLISHED];
  const matches = RULES.allow ?? [];
  const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
  let reasons = 0;
  for (const corpus of corpora)
    for (const text of [...corpus.allow, ...corpus.ask]) if (bash([...matches], planted(text))) reasons++;
  expect(reasons).toBeGreaterThan(100);
});
