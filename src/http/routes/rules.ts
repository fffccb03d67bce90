import type { App } from "../../app.ts";
import { addRule, changeRule, listRules, removeRule, suggestRules, testRule } from "../../contract/routes/rules.ts";
import { APPROVAL_ID, RULE, RULE_ID, SESSION_ID } from "../../contract/samples.ts";
import { type Served, serve } from "../serve.ts";

export type RulesApp = Pick<App, "rules" | "ruleHistory">;

const params = { id: "The rule's id" };

export function ruleRoutes({ rules, ruleHistory }: RulesApp): Served[] {
  return [
    serve(listRules, {
      tag: "Rules",
      summary: "Lists the rules that hold for the caller, the strictest first",
      details:
        "Those of the operator's file, the stored ones, and the built-in ones; with `session_id`, those that hold in that session. " +
        "How often rules of the file and built-in ones have decided is told of the caller's sessions; to the operator of all.",
      answer: { says: "All of them.", example: { type: "ok", rules: [RULE] } },
    }).by(async ({ principal, query }) => ({ type: "ok", rules: await rules.list(principal, query.session_id) })),
    serve(addRule, {
      tag: "Rules",
      summary: "Adds a rule",
      details:
        "With `session_id` it holds in that session; without, in all sessions of the caller, and one of the operator in everybody's. " +
        "The strictest rule that matches wins: deny, then ask, then allow. It decides what is pending too. `note` says what a rule " +
        "to allow leaves out, or that it allows nothing. One without end that the caller has already is not added again.",
      body: { decision: "allow", match: "Bash(touch *)", session_id: SESSION_ID },
      answers: {
        201: { says: "It holds from now on.", example: { type: "ok", rule: RULE } },
        200: { says: "The caller has this very rule already.", example: { type: "ok", rule: RULE, existing: true } },
      },
      errors: ["not_found", "limit_reached"],
    }).by(async ({ principal, body }) => {
      const added = await rules.add(principal, body);
      return { status: added.existing ? 200 : 201, answer: { type: "ok", ...added } };
    }),
    serve(testRule, {
      tag: "Rules",
      summary: "Tries a rule on what was decided before, or a call on the rules",
      details:
        "A rule: how many past requests it would have decided, and each that somebody has decided otherwise. A call (`tool_name`, `input` " +
        "and `session_id`): what becomes of it now, and by which rule (`match`); where it asks, `why` the rule that looks most as if it " +
        "allowed it does not, and which rule would (`suggested_rule`), or why none can (`no_rule`). Paths are judged as they are now.",
      body: { decision: "allow", match: "Bash(touch *)" },
      answer: {
        says: "What it would have done.",
        example: {
          type: "ok",
          decided: 12,
          contradictions: [
            { approval_id: APPROVAL_ID, was: "denied", would_be: "allow", tool: "Bash", input: "touch a" },
          ],
          has_more: false,
          tested: 40,
        },
      },
      errors: ["not_found"],
    }).by(async ({ principal, body }) => ruleHistory.test(principal, body)),
    serve(suggestRules, {
      tag: "Rules",
      summary: "The few rules that would have saved most decisions, and contradict none",
      answer: {
        says: "The most useful first.",
        example: {
          type: "ok",
          suggestions: [{ rule: { decision: "allow", match: "Bash(touch *)" }, decided: 12, contradictions: 0 }],
        },
      },
      errors: ["not_found"],
    }).by(async ({ principal, query }) => ({
      type: "ok",
      suggestions: await ruleHistory.suggest(principal, query.session_id),
    })),
    serve(changeRule, {
      tag: "Rules",
      summary: "Changes a rule",
      params,
      details:
        "Only what is given. Who made it may, and the operator. `null` takes an expiry, a number of uses or a reason away.",
      body: { mode: "live" },
      answer: { says: "As it holds from now on.", example: { type: "ok", rule: RULE } },
      errors: ["not_found"],
    }).by(async ({ principal, params, body }) => ({
      type: "ok",
      ...(await rules.change(principal, params.id, body)),
    })),
    serve(removeRule, {
      tag: "Rules",
      summary: "Removes a rule",
      params,
      details: "Who made it may, and the operator.",
      answer: { says: "It is gone.", example: { type: "ok", rule_id: RULE_ID } },
      errors: ["not_found"],
    }).by(async ({ principal, params }) => {
      await rules.remove(principal, params.id);
      return { type: "ok", rule_id: params.id };
    }),
  ];
}
