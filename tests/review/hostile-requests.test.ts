import { describe, expect, test } from "bun:test";
import type { ApprovalContext } from "../../src/contract/approvals/approval-context.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import { dangersOf } from "../../src/review/dangers.ts";
import { requested, rulesOf } from "./requested.ts";

type Ask = [tool: string, input: JsonObject];

const NOTHING: ApprovalContext = {
  working_dir: "/work-dir",
  file: null,
  real_path: "/work-dir/a",
  plan: null,
  skill: null,
};
const MEGABYTE = 1_000_000;
const times = (piece: string, size: number): string => piece.repeat(Math.ceil(size / piece.length));
const bash = (command: string): Ask => ["Bash", { command }];
/** Copies the input, so that no cached result is used. */
const judge = ([tool, input]: Ask) => dangersOf(requested(tool, { ...input }), NOTHING);

describe("dangersOf an enormous request", () => {
  test.each<[string, Ask, string[]]>([
    ["a list of 2 million texts", ["mcp__x__delete", { a: Array(2 * MEGABYTE).fill("b") }], ["tool"]],
    ["a command of 2 million words", ["Bash", { command: Array(2 * MEGABYTE).fill("b") }], ["unreadable"]],
    ["a command of 8 MB", bash(times("rm a;", 8 * MEGABYTE)), ["unreadable"]],
    ["a path of 1 MB", ["Write", { file_path: times("a/", MEGABYTE), content: "" }], ["unreadable"]],
    ["a path of 1 MB that is only read", ["Read", { file_path: times("a/", MEGABYTE) }], ["unreadable"]],
    ["a path of 5 kB in a command", bash(`touch ${times("a/", 5_000)}`), ["unreadable"]],
    ["a directory of 5 kB in a command", bash(`cd ${times("a/", 5_000)} && touch b`), ["outside"]],
    ["300 files in a directory of 3 kB", bash(`cd ${times("a/", 3_000)} && touch ${times("b ", 600)}`), ["unreadable"]],
    ["an address of 1 MB", ["WebFetch", { url: `https://${times("é.", MEGABYTE)}`, prompt: "" }], ["fetch"]],
    ["a tool's name of 1 MB", [`mcp__x__get${times("aB", MEGABYTE)}`, {}], ["unreadable"]],
    ["nesting of 100,000 lists", ["Other", nested(100_000)], []],
  ])("with %s reports what it can and does not throw", (_, ask, rules) => {
    expect(rulesOf(judge(ask))).toEqual(rules);
  });

  test("finds an invisible character in the last of a million texts", () => {
    expect(rulesOf(judge(["Other", { a: [...Array(MEGABYTE).fill("b"), "\u202e"] }]))).toEqual(["hidden"]);
    expect(judge(["Other", { a: ["\ud83d\ude00", "b\tc\nd"] }])).toEqual([]);
  });

  test("reports half characters in two texts as invisible, not as one character", () => {
    expect(rulesOf(judge(["Other", { a: ["a\ud83d", "\ude00b"] }]))).toEqual(["hidden"]);
    expect(rulesOf(judge(["Other", { a: ["\ude00b", "a\ud83d"] }]))).toEqual(["hidden"]);
  });

  test("does not join a command of too many words", () => {
    const words = Array(40_000).fill("a");
    expect(judge(["Bash", { command: words }])).toEqual([
      { rule: "unreadable", message: "is too long to check (40000 words)" },
    ]);
  });

  test("does not check further a path that is too long", () => {
    const message = "names a path that is too long to check";
    const path = `${times("a/", 5_000)}.env`;
    expect(judge(["Write", { file_path: path, content: "" }])).toEqual([{ rule: "unreadable", message }]);
    expect(judge(bash(`touch ${path}`)).map((danger) => danger.message)).toContain(message);
  });

  test("reports a check that throws as a danger, and runs the other checks", () => {
    const rules = [
      {
        rule: "broken",
        test: () => {
          throw new RangeError("Maximum call stack size exceeded.");
        },
      },
      { rule: "other", test: () => ["does something"] },
    ];
    expect(dangersOf(requested("Bash", { command: "rm -rf x" }), NOTHING, rules)).toEqual([
      { rule: "delete", message: "removes files (rm)" },
      { rule: "unreadable", message: "could not be checked completely" },
      { rule: "other", message: "does something" },
    ]);
  });
});

/** Requests that once took quadratic time. */
const SHAPES: Record<string, (size: number) => Ask> = {
  "a file below .git, with a line break": (size) => ["Write", { file_path: `${times(".git/", size)}\n`, content: "" }],
  "an address of foreign letters": (size) => ["WebFetch", { url: `https://${times("é.", size)}`, prompt: "" }],
  "a tool's name": (size) => [`mcp__x__${times("aB", size)}`, {}],
  "a statement of empty lines": (size) => ["mcp__x__query", { sql: times("\n", size) }],
  "a statement of updates": (size) => ["mcp__x__query", { sql: times("update x ", size) }],
  "a list of short texts": (size) => ["mcp__x__get", { a: Array(size / 4).fill("b") }],
};

/** The same inside a command, of which at most 32 kB are parsed. */
const COMMANDS: Record<string, (size: number) => string> = {
  "touch below .git, with a line break": (size) => `touch '${times(".git/", size)}\n'`,
  "awk of empty lines": (size) => `awk '${times("\n", size)}'`,
  "awk of a text without an end": (size) => `awk '${times('"\\', size)}'`,
  "awk that prints into files": (size) => `awk '${times("print>", size)}'`,
  "psql of empty lines": (size) => `psql -c '${times("\n", size)}'`,
  "kubectl get secret": (size) => `kubectl ${times("get secret ", size)}`,
  "chmod for others": (size) => `chmod ${times("o", size)} a`,
  "kill by a variable": (size) => `kill $${times("pid", size)}-`,
  "let with indexes": (size) => `let '${times("a[}", size)}'`,
  "cd to a long path, and many files there": (size) => `cd ${times("a/", 3_900)}; touch ${times("b ", size - 3_900)}`,
  "cd, again and again": (size) => times("cd abcdefgh;", size),
  "cp of many files to a long path": (size) => `cp ${times(".envrc ", size / 2)}${times("a/", size / 2)}`,
  "here-documents": (size) => times("<<a ", size),
  "eval of eval": (size) => `${times("eval ", size)}a`,
  braces: (size) => `rm ${times("{a,b}{c,d}{e,f}{g,h} ", size)}`,
};

describe("dangersOf", () => {
  const shapes = [
    ...Object.entries(SHAPES).map(([shape, ask]) => ({ shape, ask, size: 100_000 })),
    ...Object.entries(COMMANDS).map(([shape, command]) => ({
      shape,
      ask: (size: number) => bash(command(size)),
      size: 8_000,
    })),
  ];

  test.each(shapes)("takes about four times as long for four times the size of $shape", ({ ask, size }) => {
    millisecondsFor(ask(size));
    const before = millisecondsFor(ask(size));
    const after = millisecondsFor(ask(4 * size));
    expect(after).toBeLessThan(8 * Math.max(before, NOISE_MS));
  });
});

/** Shorter times can't be measured reliably. */
const NOISE_MS = 6;

/** The lowest processor time of a few runs, because other processes disturb some of them. */
function millisecondsFor(ask: Ask): number {
  const runs = [1, 2, 3].map(() => {
    const { user } = process.cpuUsage();
    judge(ask);
    return (process.cpuUsage().user - user) / 1000;
  });
  return Math.min(...runs);
}

function nested(depth: number): JsonObject {
  let value: unknown = "a";
  for (let level = 0; level < depth; level++) value = [value];
  return { value };
}
