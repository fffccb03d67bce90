import { z } from "zod";
import { AddedRule, RuleList, RuleRemoved, SuggestionList, TestedRule } from "../rules/answers.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep.optional();

/** As many rules as fit, the strictest first. */
export const RulesAnswer = RuleList.extend({ has_more: z.literal(true).optional() });
export const RuleAddAnswer = AddedRule;
export const RuleRemoveAnswer = RuleRemoved;
/** For a rule, what it would have decided; for a call, its decision. Over REST, both have the fields of both. */
export const RuleTestAnswer = z.union([
  TestedRule.omit({ would_be: true, by: true, match: true, why: true }),
  TestedRule.omit({ decided: true, contradictions: true, has_more: true, tested: true }).required({ would_be: true }),
]);
export const RuleSuggestAnswer = SuggestionList.extend({ next });
