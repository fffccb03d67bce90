import type { AddedRule } from "../../contract/rules/answers.ts";

/** What a new rule has decided at once; `undefined` where that is nothing. */
export function decidedWords({
  decided_pending: decided,
  has_more,
}: Pick<AddedRule, "decided_pending" | "has_more">): string | undefined {
  if (!decided) return undefined;
  const count = has_more ? `more than ${decided.length}` : decided.length;
  return `It has decided ${count} pending ${decided.length === 1 ? "request" : "requests"}.`;
}
