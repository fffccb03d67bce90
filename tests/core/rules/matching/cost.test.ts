import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { readMatch } from "../../../../src/core/rules/matching/pattern.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { suggestedMatch } from "../../../../src/core/rules/matching/suggest.ts";
import { plantTree } from "../tree.ts";
import { RULES } from "./corpus/corpus.ts";
import { rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const { deny = [], ask = [], allow = [] } = RULES;
const finder = createFinder(rulesFor([...deny, ...ask]));
const prover = createProver(rulesFor(allow), () => false);

/**
 * The processor time of the fastest run in milliseconds: of at least three runs, and of more while other processes
 * disturb.
 */
function cost(run: () => void, enough = 20): number {
  let least = Number.POSITIVE_INFINITY;
  for (let runs = 0; runs < 3 || (least >= enough && runs < 15); runs++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

function judgeAll(toolName: string, input: JsonObject, by = { finder, prover }): void {
  const judged = judgedCall({ toolName, input }, place);
  by.finder.find(judged);
  by.prover.prove(judged, by.finder.withheld(place));
}

const filled = (piece: string, chars = 32_768) => piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

describe("the cost of hostile input", () => {
  test.each<[string, string]>([
    ["words", filled("a ")],
    ["options", `git ${filled("-x ")}`],
    ["options with values", `git ${filled("-x y ")}`],
    ["rm with options", `rm ${filled("-r ")}`],
    ["commands", filled("a;")],
    ["found commands", filled("rm x;")],
    ["pipes", filled("a|")],
    ["substitutions", filled("$(")],
    ["closed substitutions", filled("$(a)")],
    ["quotes", filled("'")],
    ["double quotes", filled('"a')],
    ["backquotes", filled("`")],
    ["braces", filled("{a,")],
    ["paths", filled("a/")],
    ["many paths", filled("./a/b ")],
    ["existing paths", `cat ${filled("src/deep/z.ts ")}`],
    ["links", `cat ${filled("link-in/x.ts ")}`],
    ["ups", filled("../")],
    ["changed files", `touch ${filled("a/b ")}`],
    ["redirects", filled("a>b ")],
    ["here-documents", filled("a<<b\n")],
    ["wrappers", `${filled("env ")} x`],
    ["scripts", `${filled("sh -c ", 4_000)} x`],
    ["xargs", filled("xargs ")],
    ["stars", filled("*")],
    ["punctuation", filled("=:@,;|")],
    ["a cluster", `tool -${filled("a")}`],
    ["allowed words", `npm run ${filled("a ", 4_000)}`],
    ["allowed paths", `git add ${filled("src/x.ts ", 4_000)}`],
    ["commits", `git log -p ${filled("a ", 4_000)}`],
    ["limits", `git diff ${filled("src/x.ts ", 4_000)}`],
    ["versions", filled("git show HEAD:a/b/c;", 4_000)],
    ["unknown words", `cat ${filled("$x ", 4_000)}`],
    ["unknown verbs", filled("git $x;", 4_000)],
    ["directories", `tool ${filled("src/deep ", 4_000)}`],
    ["containers", filled("docker run a b;", 4_000)],
    ["hosts", filled("ssh h -p 1 ls;", 4_000)],
    ["workspaces", `yarn ${filled("workspace y ", 4_000)}`],
    ["allowed commands", filled("npm test;", 4_000)],
    ["harmless commands", filled("ls;", 4_000)],
    ["echo for a shell", `echo ${filled("x; ")} | sh`],
  ])("a command of %s", (_name, command) => {
    expect(cost(() => judgeAll("Bash", { command }))).toBeLessThan(20);
    expect(cost(() => finder.suspects(judgedCall({ toolName: "Bash", input: { command } }, place)))).toBeLessThan(20);
    expect(
      cost(() => suggestedMatch(judgedCall({ toolName: "Bash", input: { command } }, place), () => false)),
    ).toBeLessThan(20);
  });

  test.each<[string, string, JsonObject]>([
    ["path", "Read", { file_path: filled("a/") }],
    ["path of ups", "Edit", { file_path: filled("../"), old_string: "", new_string: "" }],
    ["URL", "WebFetch", { url: `https://${filled("a.")}`, prompt: "" }],
    ["tool name", filled("mcp__"), {}],
    ["content", "Write", { file_path: "src/x", content: filled("a", 1_000_000) }],
  ])("a long %s", (_name, tool, input) => {
    expect(cost(() => judgeAll(tool, input))).toBeLessThan(20);
  });

  test.each([
    `Bash(${filled("a ")})`,
    `Bash(${filled("a ", 4_000)}*)`,
    `Bash(${filled("'", 4_000)})`,
    `Edit(${filled("a/")})`,
    `Edit(${filled("*", 900)})`,
    `Edit(${filled("*a", 900)})`,
    `WebFetch(domain:${filled("a.")})`,
    filled("*"),
    filled("mcp__*", 500),
    filled("(", 4_000),
  ])("a pattern: %#", (match) => {
    expect(cost(() => readMatch(match))).toBeLessThan(20);
    const read = readMatch(match);
    if ("problem" in read) return;
    const rules = [{ id: "x", pattern: read.pattern }];
    const by = { finder: createFinder(rules), prover: createProver(rules, () => false) };
    expect(cost(() => judgeAll("Write", { file_path: `src/${filled("a", 250)}`, content: "" }, by))).toBeLessThan(20);
    expect(cost(() => judgeAll(`mcp__${filled("a", 500)}`, {}, by))).toBeLessThan(20);
    expect(cost(() => judgeAll("Bash", { command: filled("a ", 4_000) }, by))).toBeLessThan(20);
  });
});

describe("the cost of many rules", () => {
  const many = (make: (at: number) => string) => Array.from({ length: 1_000 }, (_, at) => make(at));
  const kinds: Record<string, string[]> = {
    programs: many((at) => `Bash(tool${at} x *)`),
    verbs: many((at) => `Bash(npm verb${at} *)`),
    options: many((at) => `Bash(npm test${at} -x)`),
    edits: many((at) => `Edit(./src/dir${at}/**)`),
    reads: many((at) => `Read(./a${at}/b/**)`),
    names: many((at) => `Read(name${at}.txt)`),
    hosts: many((at) => `WebFetch(domain:h${at}.example)`),
    servers: many((at) => `mcp__server${at}__get_*`),
    mixed: many((at) => [`Bash(t${at} *)`, `Edit(./d${at}/*.ts)`, `mcp__s${at}__x`, `Read(f${at})`][at % 4] ?? "*"),
  };
  const CALLS: [string, JsonObject][] = [
    ["Bash", { command: "npm test && git status" }],
    ["Edit", { file_path: "src/x.ts", old_string: "a", new_string: "b" }],
    ["WebFetch", { url: "https://docs.rs", prompt: "x" }],
    ["mcp__github__get_issue", {}],
  ];

  test.each(Object.keys(kinds))("1,000 rules of %s cost less than 0.2 ms more than none", (kind) => {
    const rules = rulesFor(kinds[kind] ?? []);
    const none = { finder: createFinder([]), prover: createProver([], () => false) };
    const all = { finder: createFinder(rules), prover: createProver(rules, () => false) };
    const RUNS = 25;
    const take = (by: typeof all) =>
      cost(() => {
        for (let run = 0; run < RUNS; run++) for (const [tool, input] of CALLS) judgeAll(tool, input, by);
      }, Number.POSITIVE_INFINITY) /
      (RUNS * CALLS.length);
    take(all);
    expect(take(all) - take(none)).toBeLessThan(0.2);
  });
});
