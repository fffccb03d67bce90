import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RuleDecision } from "../../../../src/contract/rules/rule.ts";
import { quickLook } from "../../../../src/core/rulebook/history/quick-look.ts";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { CHAINING } from "../../rules/matching/corpus/chaining.ts";
import { EVERYDAY } from "../../rules/matching/corpus/everyday.ts";
import { OPTIONS } from "../../rules/matching/corpus/options.ts";
import { PUBLISHED } from "../../rules/matching/corpus/published.ts";
import { SPELLING } from "../../rules/matching/corpus/spelling.ts";
import { WRAPPING } from "../../rules/matching/corpus/wrapping.ts";
import { dangersIn, rulesFor } from "../../rules/matching/judge.ts";
import { plantTree } from "../../rules/tree.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());
const { supervision: _, ...place } = tree.child;

const MATCHES = [
  ...["Bash(git push *)", "Bash(git *)", "Bash(npm run *)", "Bash(npm test)", "Bash(rm -rf *)", "Bash(curl *)"],
  ...[
    "Bash(sudo *)",
    "Bash(/usr/bin/git push *)",
    "Bash(npx tsc *)",
    "Bash(dnf install *)",
    "Bash(nc *)",
    "Bash(RM *)",
  ],
  ...["Bash(pip install *)", "Bash(docker-compose up *)", "Bash(ld.so *)", "Bash(touch *)", "Bash(echo *)"],
];
const COMMANDS = [CHAINING, EVERYDAY, OPTIONS, PUBLISHED, SPELLING, WRAPPING].flatMap(({ allow, deny, ask }) => [
  ...allow,
  ...deny,
  ...ask,
]);

/** Whether the full check says that a rule matches. */
function isMatched(decision: RuleDecision, match: string, command: string): boolean {
  const rules = rulesFor([match]);
  const call = judgedCall({ toolName: "Bash", input: { command } }, place);
  if (decision === "allow") return createProver(rules, dangersIn(place)).prove(call, undefined) !== undefined;
  return createFinder(rules).find(call) !== undefined;
}

function mayMatch(decision: RuleDecision, match: string, command: string): boolean {
  return rulesFor([match]).every(({ pattern }) => quickLook(decision, pattern)(command));
}

/** The commands that match although the quick test says no. */
function overlooked(commands: readonly string[], matches: readonly string[]): unknown[] {
  return (["allow", "deny"] as const).flatMap((decision) =>
    matches.flatMap((match) =>
      commands
        .filter((command) => !mayMatch(decision, match, command) && isMatched(decision, match, command))
        .map((command) => [decision, match, command]),
    ),
  );
}

/** Spellings of a word that a shell reads as the same word. */
const spelled = (word: string) =>
  fc.oneof(
    fc.constantFrom(word, word.toUpperCase(), `'${word}'`, `"${word}"`, `\\${word}`, `/usr/bin/${word}`, `${word}.exe`),
    fc.nat(word.length).map((at) => `${word.slice(0, at)}''${word.slice(at)}`),
    fc.nat(word.length).map((at) => `${word.slice(0, at)}"${word.slice(at)}"`),
    fc.nat(word.length).map((at) => `${word.slice(0, at)}\\\n${word.slice(at)}`),
    fc.constant([...word].map((letter) => `\\${letter}`).join("")),
    fc.constant(`$'${[...word].map((letter) => `\\x${letter.charCodeAt(0).toString(16)}`).join("")}'`),
    fc.constantFrom(`{${word},}`, `{${word.slice(0, 1)},x}${word.slice(1)}`, `$(echo ${word})`),
  );
const PROGRAMS = ["git", "npm", "rm", "curl", "npx", "yum", "dnf", "netcat", "pip", "docker", "touch", "echo", "tsc"];
const REST = ["push origin", "run build", "-rf x", "install x", "exec tsc -p .", "compose up", "x", ""];
const AROUND: ((text: string) => string)[] = [
  (text) => text,
  (text) => `ls && ${text}`,
  (text) => `sudo -u me ${text}`,
  (text) => `sh -c ${JSON.stringify(text)}`,
  (text) => `bash <<'EOF'\n${text}\nEOF`,
  (text) => `echo 'x\\n${text.replaceAll("'", "")}' | sh`,
  (text) => `eval ${text}`,
  (text) => `find . -exec ${text} \\;`,
  (text) => `flock -c'${text.replaceAll("'", "")}' lock`,
  (text) => `a=${text.split(" ")[0]}; $a push`,
  (text) => `python3 -m${text}`,
  (text) => `git -c alias.p='!${text.replaceAll("'", "")}' p`,
];
const generated = fc
  .tuple(fc.constantFrom(...PROGRAMS).chain(spelled), fc.constantFrom(...REST), fc.constantFrom(...AROUND))
  .map(([program, rest, around]) => around(`${program} ${rest}`));

describe("a quick look at a command", () => {
  test("overlooks no command of the corpus that the full check matches", () => {
    const matches = ["Bash(git push *)", "Bash(npm run *)", "Bash(rm -rf *)", "Bash(curl *)"];
    const commands = COMMANDS.map((text) => text.replaceAll("@/", `${tree.root}/`));
    expect(overlooked(commands, matches)).toEqual([]);
  });

  test("overlooks no command that is quoted, escaped, wrapped or renamed", () => {
    fc.assert(
      fc.property(generated, fc.constantFrom(...MATCHES), (command, match) => {
        expect(overlooked([command], [match])).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ["Bash(git push *)", "GIT push"],
    ["Bash(git push *)", "g'i't push"],
    ["Bash(/usr/bin/git push *)", "git push"],
    ["Bash(dnf install *)", "yum install x"],
    ["Bash(npx tsc *)", "npm exec tsc"],
    ["Bash(git push *)", "$'\\x67it' push"],
    ["Bash(git push *)", "{git,push}"],
  ])("of a rule against %s sees %s", (match, command) => {
    expect([isMatched("deny", match, command), mayMatch("deny", match, command)]).toEqual([true, true]);
  });

  test("is enough for most commands", () => {
    const plain = COMMANDS.filter((text) => !/git/i.test(text));
    const left = plain.filter((text) => mayMatch("deny", "Bash(git push *)", text));
    expect(left.length).toBeLessThan(plain.length / 10);
  });
});
