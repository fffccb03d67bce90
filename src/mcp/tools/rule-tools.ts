import { z } from "zod";
import { RuleTestInput } from "../../contract/rules/history-test.ts";
import { RuleInput } from "../../contract/rules/rule.ts";
import { APPROVAL_ID, RULE, RULE_ID, SESSION_ID } from "../../contract/samples.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { fitting, listedChars } from "../../contract/text/fit.ts";
import {
  RuleAddAnswer,
  RuleRemoveAnswer,
  RuleSuggestAnswer,
  RulesAnswer,
  RuleTestAnswer,
} from "../../contract/tools/rule-answers.ts";
import { Id, optional } from "../../contract/values.ts";
import { tool } from "./declaration/tool.ts";

/** Room for the rest of a result beside a list of rules. */
const ENVELOPE_CHARS = 500;

const OfSession = z.strictObject({ session_id: optional(Id) });

const NEXT = {
  add: "Add one with loopback_rule_add.",
  nothing: "No rule would have saved two decisions without contradicting one.",
};

/** The tools for rules, which save callers repeated decisions. */
export const RULE_TOOLS = [
  tool({
    name: "loopback_rules",
    title: "List rules",
    description: "Lists the rules that hold for you, or in a session, the strictest first.",
    input: OfSession,
    answer: RulesAnswer,
    examples: [{ input: { session_id: SESSION_ID }, answer: { type: "ok", rules: [RULE] } }],
    annotations: { readOnlyHint: true, openWorldHint: false },
  }).runs(async ({ app, principal }, { session_id }) => {
    const rules = await app.rules.list(principal, session_id);
    const shown = fitting(rules.values(), MAX_RESULT_CHARS - ENVELOPE_CHARS, listedChars);
    return { type: "ok", rules: shown, ...(shown.length < rules.length && { has_more: true as const }) };
  }),
  tool({
    name: "loopback_rule_add",
    title: "Add a rule",
    description:
      "Decides such calls from now on, pending ones too. Allows only what is proven: note says what that leaves out.",
    input: RuleInput,
    answer: RuleAddAnswer,
    examples: [
      {
        input: { decision: "allow", match: "Bash(touch *)", session_id: SESSION_ID },
        answer: { type: "ok", rule: RULE, decided_pending: [APPROVAL_ID] },
      },
    ],
    annotations: { destructiveHint: false, openWorldHint: false },
  }).runs(async ({ app, principal }, given) => ({ type: "ok", ...(await app.rules.add(principal, given)) })),
  tool({
    name: "loopback_rule_remove",
    title: "Remove a rule",
    description: "Removes a rule that you made; such calls ask again.",
    input: z.strictObject({ rule_id: Id }),
    answer: RuleRemoveAnswer,
    examples: [{ input: { rule_id: RULE_ID }, answer: { type: "ok", rule_id: RULE_ID } }],
    annotations: { destructiveHint: false, openWorldHint: false },
  }).runs(async ({ app, principal }, { rule_id }) => {
    await app.rules.remove(principal, rule_id);
    return { type: "ok", rule_id };
  }),
  tool({
    name: "loopback_rule_test",
    title: "Try a rule",
    description:
      "What a rule would have decided before, and what you decided otherwise; or what becomes of a call now, and why.",
    input: RuleTestInput,
    answer: RuleTestAnswer,
    examples: [
      {
        input: { decision: "allow", match: "Bash(touch *)" },
        answer: {
          type: "ok",
          decided: 12,
          contradictions: [
            { approval_id: APPROVAL_ID, was: "denied", would_be: "allow", tool: "Bash", input: "touch a" },
          ],
          has_more: false,
          tested: 40,
        },
      },
      {
        input: { tool_name: "Bash", input: { command: "touch a" }, session_id: SESSION_ID },
        answer: {
          type: "ok",
          would_be: "allow",
          by: `rule:${RULE_ID}`,
          match: "Bash(touch *)",
        },
      },
      {
        input: { tool_name: "Bash", input: { command: "touch a > b" }, session_id: SESSION_ID },
        when: "when it asks",
        answer: {
          type: "ok",
          would_be: "ask",
          why: "Bash(touch *) does not cover it: it writes to b (redirect)",
        },
      },
    ],
    untrusted: ["contradictions", "why", "suggested_rule", "no_rule"],
    annotations: { readOnlyHint: true, openWorldHint: false },
  }).runs(async ({ app, principal }, given) => {
    const { would_be, by, match, why, ...ofRule } = await app.ruleHistory.test(principal, given);
    if (would_be === undefined) return ofRule;
    const { decided, contradictions, has_more, tested, ...ofBoth } = ofRule;
    return {
      ...ofBoth,
      would_be,
      ...(by !== undefined && { by }),
      ...(match !== undefined && { match }),
      ...(why !== undefined && { why }),
    };
  }),
  tool({
    name: "loopback_rule_suggest",
    title: "Suggest rules",
    description: "The rules that would have saved most decisions and contradict none.",
    input: OfSession,
    answer: RuleSuggestAnswer,
    examples: [
      {
        input: {},
        answer: {
          type: "ok",
          suggestions: [{ rule: { decision: "allow", match: "Bash(touch *)" }, decided: 12, contradictions: 0 }],
          next: NEXT.add,
        },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
  }).runs(async ({ app, principal }, { session_id }) => {
    const suggestions = await app.ruleHistory.suggest(principal, session_id);
    return { type: "ok", suggestions, next: suggestions.length > 0 ? NEXT.add : NEXT.nothing };
  }),
];
