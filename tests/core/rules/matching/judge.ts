import type { JsonObject } from "../../../../src/contract/values.ts";
import { builtinRule } from "../../../../src/core/rules/builtin/builtin.ts";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall, type Place } from "../../../../src/core/rules/matching/judged-call.ts";
import { readMatch } from "../../../../src/core/rules/matching/pattern.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import type { ToolCall } from "../../../../src/core/rules/tool-call.ts";
import { follow } from "../../../../src/files/real-path.ts";
import { dangersOf } from "../../../../src/review/dangers.ts";
import { requested } from "../../../review/requested.ts";

export type Verdict = "allow" | "deny" | "ask";
export type Rules = Partial<Record<Verdict, readonly string[]>>;

/** Rules whose ids are their matches. */
export function rulesFor(matches: readonly string[]) {
  return matches.map((match) => {
    const read = readBefore.get(match) ?? readMatch(match);
    readBefore.set(match, read);
    if ("problem" in read) throw new Error(`${match} ${read.problem}`);
    return { id: match, pattern: read.pattern };
  });
}

/** Property tests parse the same matches thousands of times. */
const readBefore = new Map<string, ReturnType<typeof readMatch>>();

/** The dangers that people see, except `tool`. */
export function dangersIn({ workingDir }: Place) {
  return ({ toolName, input }: ToolCall): boolean => {
    const path = [input["file_path"], input["notebook_path"], input["path"]].find((one) => typeof one === "string");
    const full = path === undefined ? undefined : path.startsWith("/") ? path : `${workingDir}/${path}`;
    const context = {
      working_dir: workingDir ?? null,
      real_path: (full === undefined ? undefined : follow(full)?.real) ?? null,
      file: null,
      plan: null,
      skill: null,
    };
    return dangersOf(requested(toolName, input), context).some(({ rule }) => rule !== "tool");
  };
}

/** Decides calls as a server with these rules would: deny, then ask, then allow, then the built-in rules. */
export function judge(rules: Rules, place: Place) {
  const deny = createFinder(rulesFor(rules.deny ?? []));
  const ask = createFinder(rulesFor(rules.ask ?? []));
  const both = createFinder([...rulesFor(rules.deny ?? []), ...rulesFor(rules.ask ?? [])]);
  const allow = createProver(rulesFor(rules.allow ?? []), dangersIn(place));
  return (toolName: string, input: JsonObject): Verdict => {
    const call = { toolName, input };
    const judged = judgedCall(call, place);
    if (deny.find(judged) !== undefined) return "deny";
    if (ask.find(judged) !== undefined) return "ask";
    const withheld = both.withheld(place);
    if (allow.prove(judged, withheld, both.suspects(judged)) !== undefined) return "allow";
    const { workingDir } = place;
    if (workingDir === undefined) return "ask";
    const child = { ...place, workingDir, supervision: "default" as const, withheld };
    return builtinRule(call, child) === undefined ? "ask" : "allow";
  };
}
