import type { RuleDecision } from "../../../contract/rules/rule.ts";
import type { JsonObject } from "../../../contract/values.ts";
import { createFinder } from "../../rules/matching/find.ts";
import type { JudgedCall } from "../../rules/matching/judged-call.ts";
import { SHELL_TOOLS } from "../../rules/matching/judged-call.ts";
import { type OutlineCheck, outlineCheck } from "../../rules/matching/outline/match-outline.ts";
import type { Outline } from "../../rules/matching/outline/outline.ts";
import { isFor } from "../../rules/matching/paths/file-prover.ts";
import { type Pattern, toolsOf } from "../../rules/matching/pattern.ts";
import { createProver, type HasDangers } from "../../rules/matching/prove.ts";
import { toolProver } from "../../rules/matching/tool-name.ts";
import { textAt } from "../../rules/tool-keys.ts";
import type { KnownPlace } from "./outlines.ts";
import { quickLook } from "./quick-look.ts";

export type TriedRule = ReturnType<typeof createTriedRule>;

/** One rule that is tried on past calls. */
export function createTriedRule(decision: RuleDecision, pattern: Pattern) {
  const rules = [{ id: "", pattern }];
  const finder = createFinder(rules);
  const provers = new Map<HasDangers, ReturnType<typeof createProver>>();
  const checks = new Map<string, OutlineCheck>();
  const mayRun = quickLook(decision, pattern);
  const isNamed = decision !== "allow" && (pattern.kind === "tool" || pattern.kind === "tools");

  function checkIn({ outlineKey, place }: KnownPlace): OutlineCheck {
    const check = checks.get(outlineKey) ?? outlineCheck(decision, pattern, place);
    checks.set(outlineKey, check);
    return check;
  }

  return {
    decision,
    /** The tools whose calls the rule could decide; empty if that is unknown. */
    toolNames: toolsIn(decision, pattern),
    /** Whether the rule denies or asks by tool name, so that the name alone decides. */
    isNamed,
    /**
     * Whether the rule is too wide to be tried on calls without an outline. Apart from rules by name, only those for
     * commands are narrow enough.
     */
    isWide: !isNamed && pattern.kind !== "command",
    /** A test that is fast enough for all calls: `false` means that the rule does not match. */
    mayMatch: (toolName: string, input: JsonObject): boolean =>
      !SHELL_TOOLS.includes(toolName) || mayRun(textAt(input, "command") ?? ""),
    /** Whether the rule matches the outline of a call; `undefined` if only a full check of the call can tell. */
    matchesOutline(toolName: string, text: string, read: () => Outline, known: KnownPlace): boolean | undefined {
      const check = checkIn(known);
      return check.mayMatch(toolName, text) && check.matches(toolName, read());
    },
    /** Whether the rule matches the call itself, as it would be decided now. */
    matches(call: JudgedCall, { hasDangers }: KnownPlace): boolean {
      if (decision !== "allow") return finder.find(call) !== undefined;
      const prover = provers.get(hasDangers) ?? createProver(rules, hasDangers);
      provers.set(hasDangers, prover);
      return mayCover(pattern, call) && prover.prove(call, undefined) !== undefined;
    },
  };
}

function toolsIn(decision: RuleDecision, pattern: Pattern): string[] {
  if (decision === "allow") return writes(pattern) ? [...toolsOf(pattern), "Bash"] : toolsOf(pattern);
  if (pattern.kind === "fetch") return ["WebFetch"];
  return pattern.kind === "command" ? SHELL_TOOLS : [];
}

/** Whether an allow rule also covers files that commands write. */
function writes(pattern: Pattern): boolean {
  if (pattern.kind === "file") return isFor(pattern.tool, "Write");
  return pattern.kind === "tool" && toolProver([{ order: 0, glob: pattern.name }])("Write") !== undefined;
}

/** Whether a command of the line begins with the pattern's words, which is necessary for the pattern to cover it. */
function mayCover(pattern: Pattern, { literal }: JudgedCall): boolean {
  if (pattern.kind !== "command") return true;
  const { words } = pattern.command;
  return literal()?.some((command) => words.every((word, at) => command.words[at] === word)) ?? false;
}
