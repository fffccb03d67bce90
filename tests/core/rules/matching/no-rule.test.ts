import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall, type Place } from "../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { NOTHING_IN_FORCE } from "../../../../src/core/rules/matching/suggest.ts";
import { whyNoRule } from "../../../../src/core/rules/matching/suggestions/no-rule.ts";
import { plantTree } from "../tree.ts";
import { CHAINING } from "./corpus/chaining.ts";
import { RULES } from "./corpus/corpus.ts";
import { EVERYDAY } from "./corpus/everyday.ts";
import { OPTIONS } from "./corpus/options.ts";
import { SPELLING } from "./corpus/spelling.ts";
import { WRAPPING } from "./corpus/wrapping.ts";
import { dangersIn, rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const why = (toolName: string, input: JsonObject, at: Place = place) =>
  whyNoRule(
    judgedCall({ toolName, input: JSON.parse(planted(JSON.stringify(input))) }, at),
    dangersIn(at),
    NOTHING_IN_FORCE,
  );
const EDIT = { old_string: "a", new_string: "b" };

describe("no rule can allow", () => {
  test.each<[string, string]>([
    ["npm test $X", "it is not only literal words ($X): variables"],
    ["rm -rf ~", "it is not only literal words (~): "],
    ["npm test &", "it is not only literal words"],
    ["X=1 npm test", "it is not only literal words"],
    ["cd ./src && npm test", "it changes the directory"],
    ["cd .. && ls", "it changes the directory"],
    ["cat @/data/operator-token && npm test", "it leads to a file that no child may read"],
    ["npm test > @/data/operator-token", "it writes to "],
    ["make a && ./x.sh", "its parts need rules of their own"],
    ["rm a && rm -r b", "its parts need rules of their own"],
    ["npm test > .npmrc", "its parts need rules of their own"],
  ])("%j, since %s", (command, reason) => {
    expect(why("Bash", { command })).toStartWith(reason);
  });

  test.each<[string, JsonObject, string]>([
    ["Bash", { command: "npm test", run_in_background: true }, "it has arguments that always ask (run_in_background)"],
    ["AskUserQuestion", { questions: [] }, "somebody answers such a call each time"],
    ["ExitPlanMode", {}, "somebody answers such a call each time"],
    ["Read", { file_path: "@/data/operator-token" }, "it leads to a file that no child may read"],
    ["Edit", { file_path: "a.txt", ...EDIT, odd: 1 }, "it has arguments that always ask (odd)"],
    ["mcp__db__query", { sql: "drop table x" }, "it is dangerous"],
    ["WebFetch", { url: "http://127.0.0.1/x", prompt: "y" }, "it is dangerous"],
  ])("%s %j, since %s", (tool, input, reason) => {
    expect(why(tool, input)).toStartWith(reason);
  });

  test("a call whose directory is unknown", () => {
    const elsewhere = { ...place, workingDir: undefined };
    expect(why("Bash", { command: "npm test" }, elsewhere)).toBe("where it would run is not known");
  });
});

test.each<[string, JsonObject]>([
  ["Bash", { command: "npm test" }],
  ["Bash", { command: "rm -rf build" }],
  ["Bash", { command: "sudo ls" }],
  ["Bash", { command: "echo x >> pw" }],
  ["Bash", { command: "npm test > out.txt" }],
  ["Bash", { command: "make a && make b" }],
  ["Bash", { command: "cd @/project && ./x.sh a && ./x.sh b" }],
  ["Edit", { file_path: ".env", ...EDIT }],
  ["Write", { file_path: "/opt/x", content: "" }],
  ["Grep", { pattern: "x", path: "@/person/notes" }],
  ["WebFetch", { url: "https://docs.rs/x", prompt: "y" }],
  ["mcp__github__add_comment", {}],
  ["SomethingNew", {}],
])("some rule can allow %s %j", (tool, input) => {
  expect(why(tool, input)).toBeUndefined();
});

test("in the whole corpus, no call that a single rule allows counts as beyond all rules", () => {
  const commands = [EVERYDAY, CHAINING, WRAPPING, OPTIONS, SPELLING].flatMap(({ allow, ask }) => [...allow, ...ask]);
  const provers = rulesFor((RULES.allow ?? []).map((match) => match.replaceAll("@/", `/${tree.root}/`))).map((rule) =>
    createProver([rule], dangersIn(place)),
  );
  const wrong = commands.map(planted).filter((command) => {
    const call = judgedCall({ toolName: "Bash", input: { command } }, place);
    return provers.some((prover) => prover.prove(call, undefined)) && why("Bash", { command }) !== undefined;
  });
  expect(wrong).toEqual([]);
});

test("where a deny rule might match, only calls that no exact words allow are beyond all rules", () => {
  const against = createFinder(rulesFor(["Bash(git push *)"]));
  const reason = (command: string) => {
    const call = judgedCall({ toolName: "Bash", input: { command } }, place);
    return whyNoRule(call, dangersIn(place), { withheld: against.withheld(place), isSuspect: against.suspects(call) });
  };
  expect(reason("mywrap git push")).toBeUndefined();
  expect(reason("mywrap git push > out.txt")).toBeDefined();
});
