import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { dangersIn } from "../../../../src/core/rulebook/call-dangers.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { readMatch } from "../../../../src/core/rules/matching/pattern.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { openRecordedBash } from "./recorded-bash.ts";

setDefaultTimeout(300_000);

/** The allowed commands: exact words, first words, and a writable directory. */
const EXACT = [
  ["npm", "test"],
  ["make", "build"],
  ["python3", "check.py"],
  ["git", "status"],
];
const FIRST = [["git", "commit"], ["cargo", "test"], ["tool", "run"], ["touch"]];
const RULES = [
  ...EXACT.map((words) => `Bash(${words.join(" ")})`),
  ...FIRST.map((words) => `Bash(${words.join(" ")} *)`),
  "Edit(./out/**)",
];
/** Programs that only read, and may run beside allowed commands. */
const READERS = [
  "cat",
  "head",
  "tail",
  "wc",
  "grep",
  "ls",
  "sort",
  "uniq",
  "echo",
  "true",
  "false",
  "pwd",
  "cut",
  "tr",
  "test",
  "printf",
  "find",
  "id",
];
/** Programs that no rule names. */
const OTHERS = [
  "rm",
  "curl",
  "sh",
  "bash",
  "sudo",
  "env",
  "xargs",
  "tee",
  "node",
  "npx",
  "evil",
  "mv",
  "timeout",
  "nohup",
];

const PROGRAMS = [...new Set([...EXACT, ...FIRST].map(([name = ""]) => name)), ...READERS, ...OTHERS];
const bash = await openRecordedBash(PROGRAMS);
afterAll(() => bash[Symbol.asyncDispose]());

const { workingDir } = bash;
const place = { workingDir, addDirs: [], privatePaths: [], home: "/nonexistent", path: "/usr/bin:/bin" };
const rules = RULES.flatMap((match) => {
  const read = readMatch(match);
  return "pattern" in read ? [{ id: match, pattern: read.pattern }] : [];
});
const prover = createProver(rules, dangersIn(workingDir));
const isAllowed = (command: string) =>
  prover.prove(judgedCall({ toolName: "Bash", input: { command } }, place), undefined) !== undefined;

/** Whether a rule names these words. It compares words only, without the parser and the matcher under test. */
function isNamed(words: string[]): boolean {
  const isExact = EXACT.some((exact) => exact.length === words.length && exact.every((word, at) => word === words[at]));
  if (isExact || FIRST.some((first) => first.every((word, at) => word === words[at]))) return true;
  return READERS.includes(words[0] ?? "") && !words.some((word) => /^-(?:exec|ok|delete|fprint|fls)/.test(word));
}

const ARGUMENTS = [
  ..."a.txt src out/x -m message -v --all --force -n 5 'a b' \"q\" a\\ b -- + . .. ~ @ % x=1 -C --exec=evil".split(" "),
  ..."$X $(evil) `evil` <(evil) >(evil) $'\\x41' {a,b} a* ?.txt [a] !! ~root $((1)) \\ ' \" # 'it''s'".split(" "),
  ...[
    "$(rm x)",
    "`rm x`",
    "$(\nevil\n)",
    ["$", "{X:-$(evil)}"].join(""),
    "\u00a0",
    "\u2028evil",
    "\r",
    "\t",
    "\\\n",
    "'$(evil)'",
    '"$(evil)"',
    "<<<evil",
  ],
];
const JOINTS = [
  ..."&& || ; | & |& ;; ! && ; \n \r\n".split(" "),
  ...["\n", " & ", "\n\n", " #\n", "; : ;", " || true && ", "\\\n", "\u2029", " 2>&1 | ", " >/dev/null && "],
];
const REDIRECTS = [
  "> out/a",
  ">out/b",
  ">> out/c",
  "> src/a",
  "> a",
  "2> out/e",
  "&> out/f",
  "< a",
  "<< E\nevil\nE",
  ">| out/a",
  "> out/../a",
  "> $X",
  ">&2",
  "2>&1",
  "> /dev/null",
  "1>out/z",
];
const WRAPPERS = [
  "X=1 ",
  "env ",
  "sudo ",
  "( ",
  "{ ",
  "! ",
  "time ",
  "exec ",
  "eval ",
  "command ",
  "coproc ",
  "if ",
  "while ",
  "function f() ",
  "nohup ",
  "xargs ",
  "bash -c ",
  "X=$(evil) ",
];

const argument = fc.constantFrom(...ARGUMENTS);
const allowed = fc.constantFrom(...[...EXACT, ...FIRST].map((words) => words.join(" ")));
const other = fc.constantFrom(...READERS, ...OTHERS, "/bin/evil", "./evil", "'evil'", "\\evil", "ev''il", "$X");
const simple = fc
  .tuple(
    fc.oneof({ weight: 8, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.constantFrom(...WRAPPERS) }),
    fc.oneof({ weight: 5, arbitrary: allowed }, { weight: 2, arbitrary: other }),
    fc.array(argument, { maxLength: 2 }),
    fc.oneof({ weight: 5, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.constantFrom(...REDIRECTS) }),
  )
  .map(([wrapper, words, rest, redirect]) => `${wrapper}${[words, ...rest, redirect].filter(Boolean).join(" ")}`);
/** Shapes that are often allowed, so that most runs test the parts beside them. */
const likely = fc
  .tuple(allowed, fc.constantFrom("", " -m x", " a.txt", " 'a b'", " > out/a", " 2>&1 | tail -n 5", " && echo done"))
  .map((parts) => parts.join(""));
const line = fc
  .tuple(
    fc.oneof(likely, simple),
    fc.array(fc.tuple(fc.constantFrom(...JOINTS), fc.oneof(likely, simple)), { maxLength: 2 }),
  )
  .map(([first, rest]) => [first, ...rest.flat()].join(" "));

test("an allowed command line runs only programs that a rule names, and writes nowhere else", () => {
  let count = 0;
  fc.assert(
    fc.property(line, (text) => {
      if (!isAllowed(text)) return;
      count++;
      const { commands, written } = bash.run(text);
      expect({ text, unnamed: commands.filter((words) => !isNamed(words)) }).toEqual({ text, unnamed: [] });
      const elsewhere = written.filter((path) => !path.startsWith(`${workingDir}/out/`));
      expect({ text, elsewhere }).toEqual({ text, elsewhere: [] });
    }),
    { numRuns: 5_000 },
  );
  expect(count).toBeGreaterThan(300);
});

test("the test itself would notice an unnamed program, in whatever way it runs", () => {
  const ran = (text: string) => bash.run(text).commands.some((words) => !isNamed(words));
  for (const text of [
    "npm test; evil",
    "npm test && npm test $(evil)",
    "git status & evil",
    "eval evil",
    "exec evil",
    "unknown-program",
    "X=1 evil",
    "npm test\nevil",
    "cat <(evil)",
    "npm test extra",
    "./evil",
  ])
    expect({ text, ran: ran(text) }).toEqual({ text, ran: true });
  expect(bash.run("npm test > src/a").written).toEqual([`${workingDir}/src/a`]);
  expect(
    bash
      .run("npm test && git commit -m x | tail")
      .commands.map(([name]) => name)
      .toSorted(),
  ).toEqual(["git", "npm", "tail"]);
});
