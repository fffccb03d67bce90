import type { RuleDecision } from "../../../../contract/rules/rule.ts";
import type { Pattern } from "../pattern.ts";
import { coversOutline } from "./covers-outline.ts";
import { findsOutline } from "./finds-outline.ts";
import type { Outline } from "./outline.ts";
import type { OutlinePlace } from "./outline-place.ts";

/** Tells of the outlines of calls that were made in one place whether one rule matches them. */
export type OutlineCheck = {
  /** A look at the outline's text: `false` means that the rule does not match. */
  mayMatch(toolName: string, text: string): boolean;
  /** Of those that passed that look; `undefined` where the call itself has to be looked at. */
  matches(toolName: string, outline: Outline): boolean | undefined;
};

/** Tells it exactly as the prover or the finder tells it of the calls. */
export function outlineCheck(decision: RuleDecision, pattern: Pattern, place: OutlinePlace): OutlineCheck {
  return decision === "allow" ? coversOutline(pattern, place) : findsOutline(pattern, place);
}
