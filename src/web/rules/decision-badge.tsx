import type { RuleDecision } from "../../contract/rules/rule.ts";

/** The decision of a rule as a colored word. */
export function DecisionBadge({ decision }: { decision: RuleDecision }) {
  return <span class={`badge rule-${decision}`}>{decision}</span>;
}
