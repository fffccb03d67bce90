import { z } from "zod";
import { RuleTested, Suggestion } from "./history-test.ts";
import { Rule, RuleNote } from "./rule.ts";

const type = z.literal("ok");

export const RuleList = z.strictObject({ type, rules: z.array(Rule) });
/** `note`: what the rule doesn't do although it seems to. */
export const OneRule = z.strictObject({ type, rule: Rule, note: RuleNote.optional() });
/** `existing`: the caller already had the same rule, so none was added. */
export const AddedRule = OneRule.extend({ existing: z.literal(true).optional() });
export type AddedRule = z.infer<typeof AddedRule>;
export const RuleRemoved = z.strictObject({ type, rule_id: z.string() });
export const SuggestionList = z.strictObject({ type, suggestions: z.array(Suggestion) });
export const TestedRule = RuleTested;
