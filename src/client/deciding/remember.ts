import type { Approval } from "../../contract/approvals/approval.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { testRule } from "../../contract/routes/rules.ts";
import type { RuleTested } from "../../contract/rules/history-test.ts";
import type { Remember } from "../../contract/rules/rule.ts";
import { kindOf } from "../../review/kinds.ts";
import type { Api } from "../api.ts";
import { createListeners } from "../listeners.ts";

/** So long after the last key, what was typed is tried. */
const PAUSE_MS = 250;

/** Where nothing is suggested: why, for a person who may still write a match. */
export const NO_SUGGESTION = "No rule is suggested: none wider than this very call would be safe.";

/** What the rule would have done with the past: nothing is known yet, that much, or the server does not take it. */
export type RuleTrial =
  | { kind: "none" }
  | { kind: "trying" }
  | { kind: "tried"; tested: RuleTested }
  | { kind: "refused"; reason: string };

/** A rule that is about to be made of a decision. */
export type Remembering = {
  approval: Approval;
  decision: "allow" | "deny";
  /** As it was suggested, then as the person has edited it; empty where nothing is suggested. */
  match: string;
  /** `always`: in every session of whoever created this one. */
  scope: Remember["scope"];
  trial: RuleTrial;
};

export type RememberState = ReturnType<typeof createRemembering>;

/** The one rule that a person is about to make: its match, where it holds, and what it would have decided before. */
export function createRemembering({ api, pauseMs = PAUSE_MS }: { api: Api; pauseMs?: number }) {
  const { onChange, changed } = createListeners();
  let current: Remembering | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function set(next: Remembering | undefined, afterMs: number): void {
    clearTimeout(timer);
    const isEmpty = next?.match.trim() === "";
    current = next && { ...next, trial: { kind: isEmpty ? "none" : "trying" } };
    if (current && !isEmpty) timer = setTimeout(tryOut, afterMs, current);
    changed();
  }

  async function tryOut(tried: Remembering): Promise<void> {
    const trial = await trialOf(tried);
    // The person has gone on meanwhile.
    if (current !== tried) return;
    current = { ...tried, trial };
    changed();
  }

  async function trialOf({ approval, decision, match, scope }: Remembering): Promise<RuleTrial> {
    const session_id = scope === "session" ? approval.session_id : undefined;
    try {
      const tested = await api.call(testRule, { body: { decision, match: match.trim(), session_id } });
      return { kind: "tried", tested };
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause;
      return { kind: "refused", reason: cause.message };
    }
  }

  function leave(): void {
    if (current) set(undefined, 0);
  }

  return {
    onChange,
    current: () => current,
    /** Begins with what is suggested for the request, which has to be read whole for that. */
    begin(approval: Approval, decision: Remembering["decision"] = "allow"): void {
      set({ approval, decision, match: approval.suggested_rule ?? "", scope: "session", trial: { kind: "none" } }, 0);
    },
    setMatch(match: string): void {
      if (current && match !== current.match) set({ ...current, match }, pauseMs);
    },
    setScope(scope: Remembering["scope"]): void {
      if (current && scope !== current.scope) set({ ...current, scope }, 0);
    },
    /** Makes no rule of it. */
    leave,
    /** The request is decided: no rule can be made with it any more. */
    ended(id: string): void {
      if (current?.approval.id === id) leave();
    },
  };
}

/** Why no approval of it can be remembered, where that does not go without saying: what people answer is new each time. */
export function whyNotRemembered(approval: Approval): string | undefined {
  const { kind } = kindOf(approval);
  return kind === "questions" || kind === "plan" ? undefined : approval.no_rule;
}

/** As it goes with the decision; `undefined` while there is no match to remember. */
export function rememberOf({ match, scope }: Pick<Remembering, "match" | "scope">): Remember | undefined {
  const trimmed = match.trim();
  return trimmed === "" ? undefined : { scope, match: trimmed };
}
