import { z } from "zod";
import { AddedRule, OneRule, RuleList, RuleRemoved, SuggestionList, TestedRule } from "../rules/answers.ts";
import { RuleTestInput } from "../rules/history-test.ts";
import { RuleInput, RuleUpdate } from "../rules/rule.ts";
import { Id } from "../values.ts";
import { route } from "./declaration/route.ts";

/** Limits the list to the rules that apply in this session, or to its requests. */
const OfSession = z.strictObject({ session_id: Id.optional() });

export const listRules = route("GET", "/api/v1/rules", { query: OfSession, answer: RuleList });
export const addRule = route("POST", "/api/v1/rules", { body: RuleInput, answers: { 200: AddedRule, 201: AddedRule } });
export const testRule = route("POST", "/api/v1/rules/test", { body: RuleTestInput, answer: TestedRule });
export const suggestRules = route("GET", "/api/v1/rules/suggestions", { query: OfSession, answer: SuggestionList });
export const changeRule = route("PATCH", "/api/v1/rules/:id", { body: RuleUpdate, answer: OneRule });
export const removeRule = route("DELETE", "/api/v1/rules/:id", { answer: RuleRemoved });
