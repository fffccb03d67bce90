import { signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import type { RuleTrial } from "../../client/deciding/remember.ts";
import { testRule } from "../../contract/routes/rules.ts";
import type { RuleInput } from "../../contract/rules/rule.ts";
import { reasonOf } from "../shared/reason.ts";

type TriedRule = Pick<RuleInput, "decision" | "match" | "session_id">;

/** Tries a rule on past decisions. Only the result of the last trial counts. */
export function createTrial({ api }: { api: Api }) {
  const state = signal<RuleTrial>({ kind: "none" });
  let latest = 0;

  function clear(): void {
    latest++;
    state.value = { kind: "none" };
  }

  async function run(rule: TriedRule): Promise<void> {
    clear();
    const mine = latest;
    state.value = { kind: "trying" };
    const next = await api
      .call(testRule, { body: rule })
      .then((tested): RuleTrial => ({ kind: "tried", tested }))
      .catch((cause): RuleTrial => ({ kind: "refused", reason: reasonOf(cause) }));
    if (mine === latest) state.value = next;
  }

  return { state, clear, run };
}
