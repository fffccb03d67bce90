import { signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { createReload } from "../../client/reload.ts";
import { decidedWords } from "../../client/words/rule-words.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { addRule, changeRule, listRules, removeRule, suggestRules } from "../../contract/routes/rules.ts";
import type { AddedRule } from "../../contract/rules/answers.ts";
import type { Suggestion } from "../../contract/rules/history-test.ts";
import type { Rule, RuleInput, RuleUpdate } from "../../contract/rules/rule.ts";
import type { Caller } from "../../contract/sign-in.ts";
import type { Announcer } from "../shared/announcer.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";

const RELOAD_AFTER_MS = 1_000;
export const OPERATOR = "operator";

export type RuleList = ReturnType<typeof createRuleList>;
type RuleListNeed = { api: Api; caller: Caller; announcer: Announcer; signal: AbortSignal };

/** The rules that apply to the caller, and the operations on them. */
export function createRuleList({ api, caller, announcer, signal: whileSignedIn }: RuleListNeed) {
  /** The strictest first; `undefined` until they are loaded. */
  const rules = signal<Rule[] | undefined>(undefined);
  const suggestions = signal<Suggestion[]>([]);
  let latest = 0;

  async function refresh(): Promise<void> {
    const mine = ++latest;
    try {
      const listed = (await api.call(listRules)).rules;
      if (mine === latest) rules.value = listed;
    } catch (cause) {
      if (!whileSignedIn.aborted) announcer.complain(`The rules can't be listed: ${reasonOf(cause)}`);
    }
  }

  /** Suggestions take long in a long history, so they are loaded only when the page opens and after each change. */
  async function suggest(): Promise<void> {
    const found = await api.call(suggestRules).catch(() => undefined);
    if (!found) return;
    const known = new Set(rules.peek()?.map(({ decision, match }) => `${decision} ${match}`));
    suggestions.value = found.suggestions.filter(({ rule }) => !known.has(`${rule.decision} ${rule.match}`));
  }

  async function reload(): Promise<void> {
    await refresh();
    await suggest();
  }

  const reloading = createReload({ list: { reload, refresh }, afterMs: RELOAD_AFTER_MS, signal: whileSignedIn });
  const changed = async <T>(change: Promise<T>): Promise<T> => {
    const answer = await change;
    void reload();
    return answer;
  };
  /** Reports what the rule does otherwise than its match suggests, and what it decided immediately. */
  const told = ({ rule, note, existing, ...decided }: Omit<AddedRule, "type">) => {
    const words = [existing && "You have this rule already.", decidedWords(decided), note];
    const text = words.filter(Boolean).join(" ");
    if (text === "") return;
    announcer.announce(text);
    announcer.note({ text, link: { to: linkTo.rule(rule.id), name: "See the rule" } });
  };

  return {
    rules,
    suggestions,
    watch: reloading.watch,
    /** A decision may have changed a rule's hits. */
    changed(event: ChangeEvent): void {
      if (event.type === "approval_resolved") reloading.soon();
    },
    add: async (body: RuleInput) => told(await changed(api.call(addRule, { body }))),
    change: async (id: string, body: RuleUpdate) => told(await changed(api.call(changeRule, { params: { id }, body }))),
    remove: (id: string) => changed(api.call(removeRule, { params: { id } })),
    /**
     * A rule's maker and the operator may change it here. Rules of the file and built-in rules can't be changed here.
     */
    mayChange: ({ tier, created_by }: Rule): boolean =>
      tier !== "file" && tier !== "builtin" && (caller.name === OPERATOR || created_by === caller.name),
  };
}
