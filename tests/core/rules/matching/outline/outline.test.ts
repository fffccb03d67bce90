import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RuleDecision } from "../../../../../src/contract/rules/rule.ts";
import { createFinder } from "../../../../../src/core/rules/matching/find.ts";
import { judgedCall, type Place } from "../../../../../src/core/rules/matching/judged-call.ts";
import { outlineCheck } from "../../../../../src/core/rules/matching/outline/match-outline.ts";
import { outlineOf } from "../../../../../src/core/rules/matching/outline/outline-of.ts";
import { outlinePlace } from "../../../../../src/core/rules/matching/outline/outline-place.ts";
import { createProver } from "../../../../../src/core/rules/matching/prove.ts";
import { suggestedMatch } from "../../../../../src/core/rules/matching/suggest.ts";
import type { ToolCall } from "../../../../../src/core/rules/tool-call.ts";
import { plantTree } from "../../tree.ts";
import { CHAINING } from "../corpus/chaining.ts";
import { EVERYDAY } from "../corpus/everyday.ts";
import { OPTIONS } from "../corpus/options.ts";
import { PUBLISHED } from "../corpus/published.ts";
import { SPELLING } from "../corpus/spelling.ts";
import { WRAPPING } from "../corpus/wrapping.ts";
import { dangersIn, rulesFor } from "../judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());
const { supervision: _, ...here } = tree.child;
const nowhere: Place = { ...here, workingDir: undefined };

const MATCHES = [
  ...["*", "Bash", "Edit", "Write", "Read", "WebFetch", "W*", "mcp__github", "mcp__github__get_*", "Monitor", "Agent"],
  ...["Bash(git *)", "Bash(git push *)", "Bash(git status)", "Bash(git -C x *)", "Bash(npm run *)", "Bash(npm test)"],
  ...[
    "Bash(npm run build -- --watch *)",
    "Bash(touch *)",
    "Bash(echo *)",
    "Bash(rm *)",
    "Bash(rm -rf *)",
    "Bash(cat *)",
  ],
  ...[
    "Bash(pip install *)",
    "Bash(docker compose *)",
    "Bash(make deploy)",
    "Bash(curl *)",
    "Bash(sudo *)",
    "Bash(ls *)",
  ],
  ...[
    "Edit(./src/**)",
    "Edit(src/*.ts)",
    "Write(./out/**)",
    "Edit(//**)",
    "Edit(*.ts)",
    "Edit(.git/**)",
    "Edit(./docs)",
  ],
  ...[
    "Read(.env)",
    "Read(./**)",
    "Read(~/notes/**)",
    "Read(*)",
    "Read(.ENV*)",
    "Read(./src/deep/**)",
    "Read(//etc/**)",
  ],
  ...["Read(**/x.ts)", "Edit(./nest/vault/key)", "Read(./link-in/**)", `Read(/${tree.root}/outside/**)`, "Edit(~/**)"],
  ...["WebFetch(domain:docs.rs)", "WebFetch(domain:*.docs.rs)", "WebFetch(domain:example.com)"],
];
const COMMANDS = [CHAINING, EVERYDAY, OPTIONS, PUBLISHED, SPELLING, WRAPPING]
  .flatMap(({ allow, deny, ask }) => [...allow, ...deny, ...ask])
  .map((text) => text.replaceAll("@/", `${tree.root}/`));
const PATHS = [
  ...[
    "src/x.ts",
    "src/deep/z.ts",
    "a.txt",
    ".env",
    "nest/vault/key",
    "link-in/x.ts",
    "link-out/secret.txt",
    "new/file.ts",
  ],
  ...[".git/config", "hard-token", "link-token", "../outside/secret.txt", "loop", "docs", "src", ".", "~/notes/n.md"],
  ...["/etc/passwd", "SRC/X.TS", "src/../.env", "to-hooks/x", "with space.txt", "detour", "out/new.txt", "*", " a.txt"],
];

const path = fc.oneof(
  fc.constantFrom(...PATHS),
  fc.constantFrom(...PATHS).map((one) => `${here.workingDir}/${one}`),
);
const word = fc.oneof(
  path,
  fc.constantFrom("-rf", "--force", "-x", "$X", "'a b'", "push", "run", "build", "test", "*.ts"),
);
const simple = fc
  .tuple(
    fc.constantFrom(..."git npm touch echo rm cat ls cp sed grep make pip docker mkdir cd node npx sudo".split(" ")),
    fc.array(word, { maxLength: 4 }),
    fc.option(fc.tuple(fc.constantFrom(">", ">>", "<", "2>"), path)),
  )
  .map(([program, words, redirect]) => [program, ...words, ...(redirect ?? [])].join(" "));
const line = fc
  .tuple(fc.array(simple, { minLength: 1, maxLength: 3 }), fc.constantFrom(" && ", " | ", "; ", " || "))
  .map(([commands, operator]) => commands.join(operator));
const command = fc.oneof(
  { weight: 2, arbitrary: line },
  { weight: 2, arbitrary: fc.constantFrom(...COMMANDS) },
  { weight: 1, arbitrary: line.map((text) => `sh -c ${JSON.stringify(text)}`) },
  { weight: 1, arbitrary: line.map((text) => `for f in a b; do ${text}; done`) },
);
const call: fc.Arbitrary<ToolCall> = fc.oneof(
  { weight: 4, arbitrary: command.map((text) => ({ toolName: "Bash", input: { command: text } })) },
  { weight: 1, arbitrary: command.map((text) => ({ toolName: "Monitor", input: { command: text } })) },
  {
    weight: 1,
    arbitrary: command.map((text) => ({ toolName: "Bash", input: { command: text, run_in_background: true } })),
  },
  { weight: 2, arbitrary: path.map((file_path) => ({ toolName: "Read", input: { file_path } })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("Edit", "Write", "MultiEdit", "NotebookEdit"), path)
      .map(([toolName, file_path]) => ({ toolName, input: inputs(file_path)[toolName] ?? {} })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("Grep", "Glob"), fc.option(path), fc.constantFrom("*.ts", "x", "../*", "/etc/*"))
      .map(([toolName, at, pattern]) => ({ toolName, input: { pattern, ...(at !== null && { path: at }) } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        "https://docs.rs/x",
        "http://a.docs.rs",
        "docs.rs",
        "https://docs.rs\\@example.com/",
        "https://u@docs.rs",
      )
      .map((url) => ({ toolName: "WebFetch", input: { url, prompt: "p" } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        "mcp__github__get_issue",
        "mcp__github__x",
        "mcp__other",
        "WebSearch",
        "Agent",
        "Task",
        "bash",
        "Made",
      )
      .map((toolName) => ({ toolName, input: { query: "q" } })),
  },
);

function inputs(file_path: string): Record<string, ToolCall["input"]> {
  return {
    Edit: { file_path, old_string: "a", new_string: "b" },
    Write: { file_path, content: "c" },
    MultiEdit: { file_path, edits: [] },
    NotebookEdit: { notebook_path: file_path, new_source: "s" },
  };
}

/** Matches the call itself, as in a decision. */
function isMatched(decision: RuleDecision, match: string, made: ToolCall, place: Place): boolean {
  const rules = rulesFor([match]);
  const judged = judgedCall(made, place);
  if (decision === "allow") return createProver(rules, dangersIn(place)).prove(judged, undefined) !== undefined;
  return createFinder(rules).find(judged) !== undefined;
}

let unknown = 0;
let told = 0;

/** The rules for which the outline and the call itself disagree. */
function differences(made: ToolCall, tried: readonly string[], place: Place): unknown[] {
  const text = outlineOf(judgedCall(made, place), dangersIn(place));
  if (text === undefined) return [];
  const at = outlinePlace(place);
  return (["allow", "deny"] as const).flatMap((decision) =>
    rulesFor(tried).flatMap(({ id: match, pattern }) => {
      const { mayMatch, matches } = outlineCheck(decision, pattern, at);
      const byOutline = mayMatch(made.toolName, text) && matches(made.toolName, JSON.parse(text));
      told++;
      if (byOutline === undefined) unknown++;
      const byCall = byOutline ?? isMatched(decision, match, made, place);
      return byOutline === undefined || byOutline === isMatched(decision, match, made, place)
        ? []
        : [{ decision, match, made, byOutline, byCall, text }];
    }),
  );
}

describe("an outline of a call", () => {
  test("tells of any rule the same as the call itself, for each command of the corpus", () => {
    for (const text of COMMANDS) {
      const made = { toolName: "Bash", input: { command: text } };
      expect(
        differences(
          made,
          MATCHES.filter((_, at) => at % 4 === text.length % 4),
          here,
        ),
      ).toEqual([]);
    }
  }, 60_000);

  test("tells of any rule the same as the call itself, for any call", () => {
    fc.assert(
      fc.property(call, fc.shuffledSubarray(MATCHES, { minLength: 8, maxLength: 8 }), (made, matches) => {
        expect(differences(made, matches, here)).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
    fc.assert(
      fc.property(call, fc.shuffledSubarray(MATCHES, { minLength: 8, maxLength: 8 }), (made, matches) => {
        expect(differences(made, matches, nowhere)).toEqual([]);
      }),
      { numRuns: 200 },
    );
    // Only where a pattern has many words the call has to be looked at.
    expect(unknown / told).toBeLessThan(0.01);
  }, 60_000);

  test("has what is suggested for the call", () => {
    fc.assert(
      fc.property(call, (made) => {
        const text = outlineOf(judgedCall(made, here), dangersIn(here)) ?? "{}";
        expect(JSON.parse(text).suggested).toBe(suggestedMatch(judgedCall(made, here), dangersIn(here)));
      }),
      { numRuns: 300 },
    );
  });
});
