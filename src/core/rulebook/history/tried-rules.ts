import type { Contradiction } from "../../../contract/rules/history-test.ts";
import type { RuleDecision } from "../../../contract/rules/rule.ts";
import type { PastRequest } from "../../../storage/past.ts";
import type { Principal } from "../../access/principals.ts";
import { once } from "../../rules/matching/once.ts";
import type { Outline } from "../../rules/matching/outline/outline.ts";
import type { Pattern } from "../../rules/matching/pattern.ts";
import type { OutlineReader, Outlines } from "./outlines.ts";
import type { Past, PastCalls } from "./past-calls.ts";
import { type Pauses, pauses } from "./pauses.ts";
import { createTriedRule, type TriedRule } from "./tried-rule.ts";

const MAX_CONTRADICTIONS = 50;

/** The number of calls that a rule would have decided, and the first of those that were decided otherwise. */
export type RuleTried = { decided: number; contradicted: number; contradictions: Past[] };
type Rule = { decision: RuleDecision; pattern: Pattern };
type Trial = RuleTried & { rule: TriedRule };

export function createTriedRules({ past, outlines }: { past: PastCalls; outlines: Outlines }) {
  /** Finds out what each rule would have decided, in one pass over the past. */
  return async (
    principal: Principal,
    rules: readonly Rule[],
    sessionId: string | undefined,
  ): Promise<{ tried: RuleTried[]; tested: number }> => {
    const reader = outlines.open();
    const trials = rules.map(({ decision, pattern }): Trial => {
      return { rule: createTriedRule(decision, pattern), decided: 0, contradicted: 0, contradictions: [] };
    });
    const toolNames = trials.map(({ rule }) => rule.toolNames);
    const wanted = toolNames.some((names) => names.length === 0) ? [] : [...new Set(toolNames.flat())];
    const isOutlining = trials.some(({ rule }) => rule.isWide);
    const pause = pauses();
    let tested = 0;
    for await (const all of past.of(principal, sessionId, wanted)) {
      const batch = all.filter(isByPerson);
      tested += batch.length;
      if (isOutlining) await past.outline(batch, reader, pause);
      const unknown = new Map<Past, Trial[]>();
      for (const one of batch) {
        const left = tryByOutline(one, trials, reader);
        if (left.length > 0) unknown.set(one, left);
      }
      if (unknown.size > 0) await tryByCall(unknown, reader, pause);
      if (pause.isDue()) await pause.take();
    }
    return { tried: trials, tested };
  };

  /** Checks the calls themselves where the outline is not enough. */
  async function tryByCall(unknown: ReadonlyMap<Past, Trial[]>, reader: OutlineReader, pause: Pauses): Promise<void> {
    for await (const [one, input] of past.withInputs([...unknown.keys()])) {
      const call = once(() => reader.judged(one, input));
      for (const trial of unknown.get(one) ?? []) {
        if (!trial.rule.mayMatch(one.toolName, input)) continue;
        if (trial.rule.matches(call(), reader.placeIn(one.session))) count(trial, one);
      }
      if (pause.isDue()) await pause.take();
    }
    reader.forgetFiles();
  }
}

/** Tries rules on the outline of a call, or on its tool's name. Returns the rules that need the call itself. */
function tryByOutline(one: Past, trials: readonly Trial[], reader: OutlineReader): Trial[] {
  const { toolName, outline: text, session } = one;
  const isKnown = text !== null && reader.isCurrent(one, session);
  let outline: Outline | undefined;
  const read = () => {
    outline ??= JSON.parse(text ?? "{}") as Outline;
    return outline;
  };
  return trials.filter((trial) => {
    const { rule } = trial;
    if (!rule.isNamed && !isKnown) return true;
    const matches = rule.matchesOutline(toolName, text ?? "", read, reader.placeIn(session));
    if (matches) count(trial, one);
    return matches === undefined;
  });
}

function count(trial: Trial, one: Past): void {
  trial.decided++;
  if (!contradicts(trial.rule.decision, one)) return;
  trial.contradicted++;
  if (trial.contradictions.length < MAX_CONTRADICTIONS) trial.contradictions.push(one);
}

/** Whether the past decision differs from the one that the rule would make. */
function contradicts(decision: Contradiction["would_be"], past: PastRequest): boolean {
  return (decision === "allow" && past.status === "denied") || (decision === "deny" && past.status === "allowed");
}

/** Whether a person or a parent decided the request, and not a rule or a timeout. */
export function isByPerson({ status, resolvedBy }: PastRequest): boolean {
  return (status === "allowed" || status === "denied") && resolvedBy !== "brake" && !resolvedBy?.startsWith("rule:");
}
