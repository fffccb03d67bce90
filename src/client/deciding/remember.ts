import type { Approval } from "../../contract/approvals/approval.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { testRule } from "../../contract/routes/rules.ts";
import type { RuleTested } from "../../contract/rules/history-test.ts";
import type { Remember } from "../../contract/rules/rule.ts";
import type { JsonObject } from "../../contract/values.ts";
import { kindOf } from "../../review/kinds.ts";
import type { Api } from "../api.ts";
import { createListeners } from "../listeners.ts";

/** The rule is tested this long after the last key stroke. */
const PAUSE_MS = 250;

/** Shown if there is no suggestion; the person may still write a match. */
export const NO_SUGGESTION = "No rule is suggested: none wider than this very call would be safe.";

/** The test of a rule on past requests: not started, running, its result, or the server's refusal. */
export type RuleTrial =
  | { kind: "none" }
  | { kind: "trying" }
  | { kind: "tried"; tested: RuleTested }
  | { kind: "refused"; reason: string };

/** A rule that the person is about to create from a decision. */
export type Remembering = {
  approval: Approval;
  decision: "allow" | "deny";
  /** The suggested match, then as the person edits it; empty if there is no suggestion. */
  match: string;
  /** The edited input that runs instead of the requested one, if the person has edited it. */
  input: JsonObject | undefined;
  /** `always`: in all sessions of this session's creator. */
  scope: Remember["scope"];
  trial: RuleTrial;
};

export type RememberState = ReturnType<typeof createRemembering>;

/** The state of the rule being created: its match, its scope, and its test on past requests. */
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
    // The person has changed the rule meanwhile.
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
    /** Begins with the request's suggested rule; the request must have been read in full. `input` is the edited input. */
    begin(approval: Approval, decision: Remembering["decision"] = "allow", input?: JsonObject): void {
      const match = approval.suggested_rule ?? "";
      set({ approval, decision, match, input, scope: "session", trial: { kind: "none" } }, 0);
    },
    setMatch(match: string): void {
      if (current && match !== current.match) set({ ...current, match }, pauseMs);
    },
    setScope(scope: Remembering["scope"]): void {
      if (current && scope !== current.scope) set({ ...current, scope }, 0);
    },
    /** Cancels the rule. */
    leave,
    /** Call when the request was decided: a rule can't be created with it any more. */
    ended(id: string): void {
      if (current?.approval.id === id) leave();
    },
  };
}

/** Returns why an approval can't be remembered; undefined for questions and plans, where it is obvious. */
export function whyNotRemembered(approval: Approval): string | undefined {
  const { kind } = kindOf(approval);
  return kind === "questions" || kind === "plan" ? undefined : approval.no_rule;
}

/** Returns the request with an edited input, and with the rule that the server suggests for that input, or why there is none. */
export async function offeredFor(approval: Approval, input: JsonObject, api: Api): Promise<Approval> {
  const { suggested_rule: _, no_rule: __, ...rest } = approval;
  return { ...rest, input, ...(await offerOf(approval, input, api)) };
}

async function offerOf(
  { tool_name, session_id }: Approval,
  input: JsonObject,
  api: Api,
): Promise<Pick<Approval, "suggested_rule" | "no_rule">> {
  try {
    const tested = await api.call(testRule, { body: { tool_name, input, session_id } });
    const { would_be, match = "a built-in rule", suggested_rule, no_rule } = tested;
    if (would_be !== "ask") return { no_rule: `${match} decides it already: ${would_be}` };
    return { ...(suggested_rule !== undefined && { suggested_rule }), ...(no_rule !== undefined && { no_rule }) };
  } catch (cause) {
    if (!(cause instanceof Refused)) throw cause;
    return { no_rule: cause.message };
  }
}

/** Returns the decision's `remember` field; `undefined` while there is no match. */
export function rememberOf({ match, scope }: Pick<Remembering, "match" | "scope">): Remember | undefined {
  const trimmed = match.trim();
  return trimmed === "" ? undefined : { scope, match: trimmed };
}
