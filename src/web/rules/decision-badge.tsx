import type { RuleDecision } from "../../contract/rules/rule.ts";

/** What a rule decides, in its word and its colour. */
export function DecisionBadge({ decision }: { decision: RuleDecision }) {
  return <span class={`badge rule-${decision}`}>{decision}</span>;
}
