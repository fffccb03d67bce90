import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { suggestedMatch } from "../../../../src/core/rules/matching/suggest.ts";
import { plantTree } from "../tree.ts";
import { CHAINING } from "./corpus/chaining.ts";
import { type Corpus, RULES } from "./corpus/corpus.ts";
import { EVERYDAY } from "./corpus/everyday.ts";
import { OPTIONS } from "./corpus/options.ts";
import { WRAPPING } from "./corpus/wrapping.ts";
import { dangersIn, judge, rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const { deny = [], ask = [], allow = [] } = RULES;
const commandsOf = ({ allow, deny, ask }: Corpus) => [...allow, ...deny, ...ask];
const COMMANDS = [EVERYDAY, CHAINING, WRAPPING, OPTIONS].flatMap(commandsOf);

const command = fc.constantFrom(...COMMANDS).map((text) => text.replaceAll("@/", `${tree.root}/`));
const some = (matches: readonly string[]) => fc.subarray([...matches]);
/** Every match may occur on either side. */
const matches = fc.constantFrom(...deny, ...ask, ...allow, "Bash", "*", "Edit", "Read");

describe("rules", () => {
  test("one more allow rule never changes a denial or a question", () => {
    fc.assert(
      fc.property(command, some(allow), matches, (text, allowed, more) => {
        const before = judge({ deny, ask, allow: allowed }, place)("Bash", { command: text });
        const after = judge({ deny, ask, allow: [...allowed, more] }, place)("Bash", { command: text });
        expect(after).toBe(before === "ask" && after === "allow" ? "allow" : before);
      }),
      { numRuns: 200 },
    );
  });

  test("one more deny rule never allows anything", () => {
    fc.assert(
      fc.property(command, some(deny), matches, (text, denied, more) => {
        const before = judge({ deny: denied, allow }, place)("Bash", { command: text });
        const after = judge({ deny: [...denied, more], allow }, place)("Bash", { command: text });
        expect(after === "allow" && before !== "allow").toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  test("their order never matters", () => {
    const shuffled = (all: readonly string[]) => fc.shuffledSubarray([...all], { minLength: all.length });
    fc.assert(
      fc.property(command, shuffled(deny), shuffled(ask), shuffled(allow), (text, ...orders) => {
        const [denied, asked, allowed] = orders;
        const before = judge(RULES, place)("Bash", { command: text });
        expect(judge({ deny: denied, ask: asked, allow: allowed }, place)("Bash", { command: text })).toBe(before);
      }),
      { numRuns: 150 },
    );
  });

  test("a proof needs only the rules that it names", () => {
    fc.assert(
      fc.property(command, some(allow), (text, allowed) => {
        const judged = judgedCall({ toolName: "Bash", input: { command: text } }, place);
        const ids = createProver(rulesFor(allowed), dangersIn(place)).prove(judged, undefined);
        if (!ids) return;
        expect(createProver(rulesFor(ids), dangersIn(place)).prove(judged, undefined)?.toSorted()).toEqual(
          ids.toSorted(),
        );
      }),
      { numRuns: 200 },
    );
  });

  test("a command is found whatever surrounds it", () => {
    const around = fc.constantFrom<(text: string) => string>(
      (text) => `( ${text} )`,
      (text) => `{ ${text}; }`,
      (text) => `if true; then ${text}; fi`,
      (text) => `echo "$( ${text} )"`,
      (text) => `npm test && ${text}`,
      (text) => `${text} || true`,
      (text) => `bash -c '${text}'`,
      (text) => `timeout 5 nice ${text}`,
      (text) => `env X=1 ${text}`,
      (text) => `sudo ${text}`,
      (text) => `! ${text}`,
      (text) => `f() { ${text}; }`,
    );
    fc.assert(
      fc.property(fc.array(around, { maxLength: 1 }), fc.array(around, { maxLength: 2 }), (outer, inner) => {
        // A wrapper runs a program, not a list or a function.
        const text = [...inner.slice(0, 1), ...outer].reduce((all, wrap) => wrap(all), "rm -rf x");
        const judged = judgedCall({ toolName: "Bash", input: { command: text } }, place);
        const isPlain = !/(?:nice|env X=1|sudo) [({!fi]/.test(text) && !/'.*'.*'/.test(text);
        if (isPlain)
          expect([text, createFinder(rulesFor(["Bash(rm -rf *)"])).find(judged)]).toEqual([text, "Bash(rm -rf *)"]);
      }),
      { numRuns: 150 },
    );
  });

  test("nothing throws, whatever a call contains", () => {
    const finder = createFinder(rulesFor([...deny, ...ask]));
    const prover = createProver(rulesFor(allow), () => false);
    const name = fc.oneof(
      fc.constantFrom("Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "Monitor", "mcp__a__b"),
      fc.string(),
    );
    const key = fc.constantFrom(
      "command",
      "file_path",
      "notebook_path",
      "path",
      "pattern",
      "url",
      "prompt",
      "content",
      "__proto__",
    );
    const value = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...COMMANDS), fc.jsonValue());
    fc.assert(
      fc.property(name, fc.dictionary(key, value), fc.boolean(), (toolName, input, isKnown) => {
        const call = { toolName, input: JSON.parse(JSON.stringify(input)) };
        const judged = judgedCall(call, isKnown ? place : { ...place, workingDir: undefined });
        finder.find(judged);
        expect(prover.prove(judged, finder.withheld(place))).not.toEqual([]);
        suggestedMatch(judged, () => false);
      }),
      { numRuns: 1_000 },
    );
  });
});
