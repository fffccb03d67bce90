import type { RuleDecision } from "../../../../contract/rules/rule.ts";
import type { Pattern } from "../pattern.ts";
import { coversOutline } from "./covers-outline.ts";
import { findsOutline } from "./finds-outline.ts";
import type { Outline } from "./outline.ts";
import type { OutlinePlace } from "./outline-place.ts";

/** Checks whether one rule matches calls that were made in one place, by their outlines. */
export type OutlineCheck = {
  /** A fast test on the text of an outline, before it is parsed: `false` means that the rule does not match. */
  mayMatch(toolName: string, text: string): boolean;
  /** Whether the rule matches a call that passed `mayMatch`; `undefined` if only a full check of the call can tell. */
  matches(toolName: string, outline: Outline): boolean | undefined;
};

/** Gives the same result as the prover or the finder does for the calls. */
export function outlineCheck(decision: RuleDecision, pattern: Pattern, place: OutlinePlace): OutlineCheck {
  return decision === "allow" ? coversOutline(pattern, place) : findsOutline(pattern, place);
}
