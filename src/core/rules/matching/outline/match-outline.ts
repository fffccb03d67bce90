import type { RuleDecision } from "../../../../contract/rules/rule.ts";
import type { Pattern } from "../pattern.ts";
import { coversOutline } from "./covers-outline.ts";
import { findsOutline } from "./finds-outline.ts";
import type { Outline } from "./outline.ts";
import type { OutlinePlace } from "./outline-place.ts";

/** Whether a rule matches a call; `undefined` where the call itself has to be looked at. */
export type OutlineMatcher = (toolName: string, outline: string) => boolean | undefined;
/** Whether it matches this outline, which is not read before the text has passed. */
export type OutlineCheck = {
  mayMatch(toolName: string, text: string): boolean;
  matches(toolName: string, outline: Outline): boolean | undefined;
};

/** Tells of calls that were made in one place whether one rule matches them, exactly as the prover or the finder does. */
export function outlineMatcher(decision: RuleDecision, pattern: Pattern, place: OutlinePlace): OutlineMatcher {
  const { mayMatch, matches } = decision === "allow" ? coversOutline(pattern, place) : findsOutline(pattern, place);
  return (toolName, text) => mayMatch(toolName, text) && matches(toolName, JSON.parse(text) as Outline);
}
