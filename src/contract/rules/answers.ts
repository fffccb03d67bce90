import { z } from "zod";
import { RuleTested, Suggestion } from "./history-test.ts";
import { Rule } from "./rule.ts";

const type = z.literal("ok");

export const RuleList = z.strictObject({ type, rules: z.array(Rule) });
export const OneRule = z.strictObject({ type, rule: Rule });
export const RuleRemoved = z.strictObject({ type, rule_id: z.string() });
export const SuggestionList = z.strictObject({ type, suggestions: z.array(Suggestion) });
export const TestedRule = RuleTested;
