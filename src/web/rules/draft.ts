import { signal } from "@preact/signals";
import type { Suggestion } from "../../contract/rules/history-test.ts";
import type { Rule, RuleDecision, RuleInput, RuleUpdate } from "../../contract/rules/rule.ts";

const HOUR = 3_600;
/** The choices for the lifetime of a rule. An empty value means forever. */
export const EXPIRIES: readonly [secs: string, words: string][] = [
  ["", "never"],
  [String(HOUR), "in an hour"],
  [String(8 * HOUR), "in 8 hours"],
  [String(24 * HOUR), "in a day"],
  [String(7 * 24 * HOUR), "in a week"],
  [String(30 * 24 * HOUR), "in 30 days"],
];
/** Keeps the expiry that the rule has. */
export const KEPT = "kept";

const FIELDS = ["decision", "match", "session_id", "reason", "interrupt", "expires_in_secs", "uses", "mode"] as const;
type Field = (typeof FIELDS)[number];

export type Draft = ReturnType<typeof createDraft>;

/** A rule in progress; `rule` is the one being edited, if any. */
export function createDraft(rule: Rule | undefined, suggested: Suggestion["rule"] | undefined) {
  const decision = signal<RuleDecision>(rule?.decision ?? suggested?.decision ?? "allow");
  const match = signal(rule?.match ?? suggested?.match ?? "");
  const session = signal(rule?.session_id ?? "");
  const reason = signal(rule?.reason ?? "");
  const interrupt = signal(rule?.interrupt ?? false);
  const expires = signal(rule?.expires_at === undefined ? "" : KEPT);
  const uses = signal(rule?.uses_left === undefined ? "" : String(rule.uses_left));
  const isShadow = signal(rule?.mode === "shadow");

  const settings = () => ({
    decision: decision.value,
    match: match.value.trim(),
    mode: isShadow.value ? ("shadow" as const) : ("live" as const),
    interrupt: decision.value === "deny" && interrupt.value,
  });
  const said = () => (decision.value === "deny" && reason.value.trim()) || null;
  const limit = () => (uses.value.trim() === "" ? null : Number(uses.value));

  return {
    decision,
    match,
    session,
    reason,
    interrupt,
    expires,
    uses,
    isShadow,
    /** The part of the rule that is tried on past requests. */
    tried: () => ({
      decision: decision.value,
      match: match.value.trim(),
      ...(session.value !== "" && { session_id: session.value }),
    }),
    added: (): RuleInput => ({
      ...settings(),
      ...(session.value !== "" && { session_id: session.value }),
      reason: said() ?? undefined,
      expires_in_secs: expires.value === "" ? undefined : Number(expires.value),
      uses: limit() ?? undefined,
    }),
    changed: (): RuleUpdate => ({
      ...settings(),
      reason: said(),
      uses: limit(),
      ...(expires.value !== KEPT && { expires_in_secs: expires.value === "" ? null : Number(expires.value) }),
    }),
  };
}

/** The field that a refusal is about: the server's message begins with its name. */
export function fieldOf(refusal: string): Field | undefined {
  return FIELDS.find((field) => new RegExp(`^${field}\\b`).test(refusal));
}
