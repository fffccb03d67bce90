import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRulesFile } from "../../src/core/rulebook/rules-file.ts";
import type { Place } from "../../src/core/rules/matching/judged-call.ts";
import { readMatch } from "../../src/core/rules/matching/pattern.ts";
import type { ToolCall } from "../../src/core/rules/tool-call.ts";
import { dangersIn, judge, type Rules, type Verdict } from "../core/rules/matching/judge.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const page = (name: string) => readFileSync(join(import.meta.dir, "../../docs", name), "utf8");
const RULES_PAGE = page("rules.md");
const PATTERNS_PAGE = page("rule-patterns.md");

const directory = await temporaryDirectory();
afterAll(() => directory[Symbol.asyncDispose]());
const workingDir = join(directory.path, "project");
for (const name of [".env", ".git/config", "docs/a.md", "prod/a", "secrets/key", "src/x.ts", "src/generated/y.ts"]) {
  mkdirSync(join(workingDir, name, ".."), { recursive: true });
  writeFileSync(join(workingDir, name), "x\n");
}
const place: Place = {
  workingDir,
  addDirs: [],
  privatePaths: [],
  home: join(directory.path, "home"),
  path: "/usr/bin",
};
mkdirSync(place.home);

const COMMAND = (command: string): ToolCall => ({ toolName: "Bash", input: { command } });
const READ = (file_path: string): ToolCall => ({ toolName: "Read", input: { file_path } });
const WRITE = (file_path: string): ToolCall => ({ toolName: "Write", input: { file_path, content: "" } });
const FETCH = (url: string): ToolCall => ({ toolName: "WebFetch", input: { url, prompt: "x" } });
const TOOL = (toolName: string): ToolCall => ({ toolName, input: {} });

const given = (rules: Rules, { toolName, input }: ToolCall) => judge(rules, place)(toolName, input);

/** What is in backquotes after a phrase, up to the end of its sentence or its bracket; a phrase that is gone fails. */
function quoted(text: string, phrase: string): string[] {
  const from = text.indexOf(phrase);
  if (from < 0) throw new Error(`"${phrase}" is not on the page any more`);
  const [, part = ""] = (phrase.endsWith("(") ? IN_BRACKET : IN_SENTENCE).exec(text.slice(from + phrase.length)) ?? [];
  const found = codes(part);
  if (found.length === 0) throw new Error(`nothing is quoted after "${phrase}"`);
  return found;
}

const IN_BRACKET = /^((?:`[^`]*`|[^`)])*)\)/;
const IN_SENTENCE = /^((?:`[^`]*`|[^`.;:\n])*)[.;:\n]/;

/** The cells of a table's rows, by the heading of its first column. */
function rows(text: string, heading: string): string[][] {
  const [, table = ""] = text.split(`\n| ${heading} |`);
  const lines = table.split("\n\n")[0]?.trim().split("\n").slice(2) ?? [];
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codes = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** `allow Bash(npm test)`, or the command that adds such a rule. */
function ruleIn(code: string): [Verdict, string] {
  const [, decision, plain, inQuotes] = /\b(allow|deny|ask) (?:"([^"]+)"|(\S.*))/.exec(code) ?? [];
  if (decision !== "allow" && decision !== "deny" && decision !== "ask") throw new Error(`${code} is no rule`);
  return [decision, plain ?? inQuotes ?? ""];
}

function rulesIn(cell: string | undefined): Rules {
  const all = codes(cell).map(ruleIn);
  return Object.fromEntries(
    Object.entries(Object.groupBy(all, ([decision]) => decision)).map(([decision, some]) => [
      decision,
      some.map(([, match]) => match),
    ]),
  );
}

/** What becomes of calls under the rules of each recipe. */
const RECIPES: Record<string, [Verdict, ToolCall[]][]> = {
  "a child that may test and lint, nothing else unasked": [
    ["allow", [COMMAND("npm test"), COMMAND("npm run lint"), COMMAND("npm test && npm run lint")]],
    ["ask", [COMMAND("npm run build"), COMMAND("npm test -- x"), COMMAND("npm install"), WRITE("src/x.ts")]],
  ],
  "edits in `src` without asking, but never to generated files": [
    ["allow", [WRITE("src/x.ts"), WRITE("src/deep/new.ts"), COMMAND("echo x > src/y.ts")]],
    ["ask", [WRITE("src/generated/y.ts"), WRITE("docs/a.md"), WRITE("src/.npmrc")]],
  ],
  "nobody pushes, publishes or deletes branches": [
    [
      "deny",
      [
        COMMAND("git push"),
        COMMAND("git -C x push --force"),
        COMMAND("npm publish --tag x"),
        COMMAND("git branch --delete --force x"),
      ],
    ],
    ["ask", [COMMAND("git status"), COMMAND("git branch -d x")]],
  ],
  "secrets stay unread": [
    [
      "deny",
      [READ(".env"), READ(".env.local"), READ("secrets/key"), COMMAND("cat secrets/key"), COMMAND("base64 .env")],
    ],
    ["allow", [READ("src/x.ts"), COMMAND("cat src/x.ts")]],
    ["ask", [COMMAND("grep -r x ."), COMMAND("git diff"), { toolName: "Grep", input: { pattern: "x" } }]],
  ],
  "documentation may be fetched": [
    ["allow", [FETCH("https://docs.rs/x")]],
    ["ask", [FETCH("https://docs.rs.example/x"), FETCH("http://docs.rs/x")]],
  ],
  "reading tools of one MCP server": [
    ["allow", [TOOL("mcp__github__get_issue"), TOOL("mcp__github__list_issues")]],
    ["ask", [TOOL("mcp__github__delete_issue"), TOOL("mcp__git__get_issue")]],
  ],
  "a rule for today": [
    ["allow", [COMMAND("make deploy")]],
    ["ask", [COMMAND("make deploy test")]],
  ],
};

type Sentence = {
  text: string;
  phrase: string;
  verdict: Verdict;
  rules: (code: string) => Rules;
  written?: (code: string) => string;
};

const ownWildcard = (code: string): Rules => ({ allow: [`Bash(${code.split(" ")[0]} *)`] });
const secrets = (code: string): Rules => ({ deny: ["Read(./secrets/**)"], allow: ["Bash(git *)", `Bash(${code})`] });
const besideBash = (match: string) => (): Rules => ({ deny: [match], allow: ["Bash", "Bash(npm *)"] });

/** What the pages quote as examples, with the rules under which it gets a verdict. */
const SENTENCES: Sentence[] = [
  {
    text: RULES_PAGE,
    phrase: "or a program that runs others (",
    verdict: "ask",
    rules: ownWildcard,
    written: (code) => `${code} x`,
  },
  { text: RULES_PAGE, phrase: "any other option asks, also abbreviated: ", verdict: "ask", rules: ownWildcard },
  {
    text: RULES_PAGE,
    phrase: "that it may run, load or write something (",
    verdict: "ask",
    rules: () => ({ allow: ["Bash(mytool *)"] }),
    written: (code) => `mytool ${code}`,
  },
  {
    text: RULES_PAGE,
    phrase: "so of one that is not listed they cover only ",
    verdict: "allow",
    rules: () => ({ allow: ["Bash"] }),
    written: (code) => `mytool ${code}`,
  },
  {
    text: RULES_PAGE,
    phrase: "An option that stands in the pattern is covered: ",
    verdict: "allow",
    rules: (code) => ({ allow: [code] }),
    written: () => "mytool --config x",
  },
  { text: RULES_PAGE, phrase: "reads, copies or packs what it is given (", verdict: "ask", rules: ownWildcard },
  { text: RULES_PAGE, phrase: "files with more arguments (", verdict: "ask", rules: ownWildcard },
  { text: RULES_PAGE, phrase: "lists, places and indexes of packages (", verdict: "ask", rules: ownWildcard },
  { text: RULES_PAGE, phrase: "goals of any plugin (", verdict: "ask", rules: ownWildcard },
  {
    text: RULES_PAGE,
    phrase: "A redirect is a write: ",
    verdict: "ask",
    rules: () => ({ allow: ["Bash(npm test)"] }),
    written: () => "npm test > out.txt",
  },
  { text: RULES_PAGE, phrase: "what files contain or have contained: ", verdict: "ask", rules: secrets },
  { text: RULES_PAGE, phrase: "limit it to other files (", verdict: "allow", rules: secrets },
  { text: RULES_PAGE, phrase: "names and messages is left alone (", verdict: "allow", rules: secrets },
  {
    text: RULES_PAGE,
    phrase: "is given the words of what is denied (",
    verdict: "ask",
    rules: besideBash("Bash(git push)"),
  },
  { text: RULES_PAGE, phrase: "or a directory around it (", verdict: "ask", rules: besideBash("Edit(./docs/**)") },
  {
    text: PATTERNS_PAGE,
    phrase: "as a run of words or in one text: ",
    verdict: "ask",
    rules: besideBash("Bash(git push)"),
  },
  {
    text: PATTERNS_PAGE,
    phrase: "not known to leave it as it is**: ",
    verdict: "ask",
    rules: besideBash("Edit(./docs/**)"),
  },
  { text: PATTERNS_PAGE, phrase: "and in any spelling: ", verdict: "deny", rules: () => ({ deny: ["Bash(rm *)"] }) },
  {
    text: PATTERNS_PAGE,
    phrase: "go to a file** (",
    verdict: "allow",
    rules: () => ({ allow: ["Bash(npm test)", "Edit(./src/**)"] }),
  },
];

describe("docs/rules.md", () => {
  test.each(rows(RULES_PAGE, "you want"))("does what the recipe says: %s", (wish, rules) => {
    const expected = RECIPES[wish];
    if (!expected) throw new Error("this recipe has no calls to try it with");
    const verdicts = expected.flatMap(([wanted, calls]) =>
      calls.map((call) => ({ wanted, given: given(rulesIn(rules), call), call })),
    );
    expect(verdicts.filter((one) => one.wanted !== one.given)).toEqual([]);
  });

  test("has every recipe that is tried, and patterns that can be read", () => {
    expect(rows(RULES_PAGE, "you want").map(([wish]) => wish)).toEqual(Object.keys(RECIPES));
    const patterns = [...rows(RULES_PAGE, "pattern"), ...rows(PATTERNS_PAGE, "pattern")].flatMap(([cell]) =>
      codes(cell),
    );
    expect(patterns.length).toBeGreaterThan(20);
    expect(patterns.filter((match) => "problem" in readMatch(match))).toEqual([]);
  });

  test("has an operator's file whose examples hold", () => {
    const [, toml = ""] = /```toml\n(.*?)```/s.exec(RULES_PAGE) ?? [];
    const path = join(directory.path, "rules.toml");
    writeFileSync(path, toml);
    const { status, rules } = openRulesFile({ path, place, hasDangers: dangersIn(place), onRead: () => {} }).current();
    expect(status).toEqual({ path, ok: true, rules: 2, problems: [] });
    expect(rules.map(({ decision }) => decision)).toEqual(["allow", "deny"]);
  });

  test.each(SENTENCES)(
    "what follows “$phrase” gets the verdict: $verdict",
    ({ text, phrase, verdict, rules, written }) => {
      const given = quoted(text, phrase).map((code) => [code, verdictOf(rules(code), written?.(code) ?? code)]);
      expect(given.filter(([, one]) => one !== verdict)).toEqual([]);
    },
  );

  test("says which pattern covers a name that yarn runs", () => {
    const [named = "", unnamed = ""] = quoted(RULES_PAGE, "so the pattern must have the name: ");
    const verdicts = [named, unnamed].map((match) => verdictOf({ allow: [match] }, "yarn run lint --fix"));
    expect(verdicts).toEqual(["allow", "ask"]);
  });

  test("says of every pattern that it finds what it does find", () => {
    const found = [...`${RULES_PAGE}${PATTERNS_PAGE}`.matchAll(FINDS)].flatMap(([, patterns = "", commands = ""]) =>
      codes(patterns).flatMap((pattern) => codes(commands).map((command) => [pattern, command] as const)),
    );
    expect(found.length).toBeGreaterThanOrEqual(11);
    const missed = found.filter(
      ([pattern, command]) => verdictOf({ deny: [matchIn(pattern)] }, command.replace("…", "s/a/b/")) !== "deny",
    );
    expect(missed).toEqual([]);
  });
});

/** `pattern` finds `command`: with one or more of both. */
const FINDS = /((?:`[^`…]+`(?:,| and)? )+)(?:both |also )?finds? ((?:`(?!deny )[^`]+`(?:, | and )?)+)/g;

/** `deny Bash(git push)` as well as the words of a command alone. */
function matchIn(pattern: string): string {
  const match = pattern.replace(/^(?:deny|ask) /, "");
  return /^[A-Z]\w+\(/.test(match) ? match : `Bash(${match})`;
}

function verdictOf(rules: Rules, command: string): Verdict {
  return given(rules, COMMAND(command));
}
