import { z } from "zod";
import { AddedRule, RuleList, RuleRemoved, SuggestionList, TestedRule } from "../rules/answers.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep.optional();

/** As many rules as fit, the strictest first. */
export const RulesAnswer = RuleList.extend({ has_more: z.literal(true).optional() });
export const RuleAddAnswer = AddedRule;
export const RuleRemoveAnswer = RuleRemoved;
export const RuleTestAnswer = TestedRule;
export const RuleSuggestAnswer = SuggestionList.extend({ next });
