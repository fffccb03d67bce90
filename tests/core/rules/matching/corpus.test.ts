import { afterAll, describe, expect, test } from "bun:test";
import { plantTree } from "../tree.ts";
import { CHAINING } from "./corpus/chaining.ts";
import { type Corpus, RULES } from "./corpus/corpus.ts";
import { EVERYDAY } from "./corpus/everyday.ts";
import { OPTIONS } from "./corpus/options.ts";
import { PUBLISHED } from "./corpus/published.ts";
import { SPELLING } from "./corpus/spelling.ts";
import { STORED } from "./corpus/stored.ts";
import { WRAPPING } from "./corpus/wrapping.ts";
import { judge, type Verdict } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const decide = judge(RULES, place);
const CORPORA: Record<string, Corpus> = { EVERYDAY, CHAINING, WRAPPING, OPTIONS, SPELLING, STORED, PUBLISHED };
const VERDICTS: readonly Verdict[] = ["allow", "deny", "ask"];

describe("the corpus of commands", () => {
  test.each(
    Object.entries(CORPORA).flatMap(([name, corpus]) => VERDICTS.map((verdict) => ({ name, verdict, corpus }))),
  )("$name: each of its commands to $verdict gets that verdict", ({ verdict, corpus }) => {
    const verdicts = corpus[verdict].map((text) => [text, decide("Bash", { command: planted(text) })]);
    expect(verdicts.filter(([, given]) => given !== verdict)).toEqual([]);
  });

  test("has at least 500 commands, none of them twice", () => {
    const all = Object.values(CORPORA).flatMap((corpus) => VERDICTS.flatMap((verdict) => corpus[verdict]));
    expect(all.length).toBeGreaterThanOrEqual(500);
    expect(all.filter((text, at) => all.indexOf(text) !== at)).toEqual([]);
  });

  test("without a rule allows only commands that only read", () => {
    const bare = judge({ deny: RULES.deny ?? [] }, place);
    const allowed = CHAINING.ask.concat(OPTIONS.ask, SPELLING.ask, WRAPPING.ask, STORED.ask, PUBLISHED.ask);
    expect(allowed.filter((text) => bare("Bash", { command: planted(text) }) === "allow")).toEqual([]);
  });
});

function planted(text: string): string {
  return text.replaceAll("@/", `${tree.root}/`);
}
