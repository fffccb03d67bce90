import type { AddedRule } from "../../contract/rules/answers.ts";

/** Says which pending requests a new rule has decided; `undefined` if none. */
export function decidedWords({
  decided_pending: decided,
  has_more,
}: Pick<AddedRule, "decided_pending" | "has_more">): string | undefined {
  if (!decided) return undefined;
  const count = has_more ? `more than ${decided.length}` : decided.length;
  return `It has decided ${count} pending ${decided.length === 1 ? "request" : "requests"}.`;
}
