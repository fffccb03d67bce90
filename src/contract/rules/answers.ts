import { z } from "zod";
import { Id } from "../values.ts";
import { RuleTested, Suggestion } from "./history-test.ts";
import { Rule, RuleNote } from "./rule.ts";

const type = z.literal("ok");

export const RuleList = z.strictObject({ type, rules: z.array(Rule) });
/** `note`: what the rule doesn't do although it seems to. */
export const OneRule = z.strictObject({ type, rule: Rule, note: RuleNote.optional() });
export const AddedRule = OneRule.extend({
  /** The caller already had the same rule, so none was added. */
  existing: z.literal(true).optional(),
  /** The pending requests that the new rule decided, oldest first, at most 100; absent if it decided none. */
  decided_pending: z.array(Id).optional(),
  /** It decided more than 100. */
  has_more: z.literal(true).optional(),
});
export type AddedRule = z.infer<typeof AddedRule>;
export const RuleRemoved = z.strictObject({ type, rule_id: z.string() });
export const SuggestionList = z.strictObject({ type, suggestions: z.array(Suggestion) });
export const TestedRule = RuleTested;
