import type { Rule, RuleTier } from "../../contract/rules/rule.ts";
import { seconds } from "../../contract/values.ts";
import type { RuleHits, RuleRow, ShadowHits } from "../../storage/rules.ts";
import { BUILTIN_RULES } from "../rules/builtin/listed.ts";
import type { CurrentFile } from "./rules-file.ts";

/** A shadow rule is reported as ready after this many agreeing decisions. */
const READY_AFTER = 5;

/** `owner` is the name of the row's owner, as in `created_by`. */
export function toRule(row: RuleRow, owner: string | null, shadow: ShadowHits | undefined): Rule {
  return {
    id: row.id,
    decision: row.decision,
    match: row.match,
    tier: tierOf(row),
    mode: row.mode,
    ...(owner !== null && { owner }),
    ...(row.sessionId !== null && { session_id: row.sessionId }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.interrupt && { interrupt: true as const }),
    created_by: row.createdByName,
    created_at: seconds(row.createdAt),
    ...(row.expiresAt !== null && { expires_at: seconds(row.expiresAt) }),
    ...(row.usesLeft !== null && { uses_left: row.usesLeft }),
    ...(row.fromApprovalId !== null && { from_approval_id: row.fromApprovalId }),
    hits: row.hits,
    ...(row.lastHitAt !== null && { last_hit_at: seconds(row.lastHitAt) }),
    ...(row.mode === "shadow" && { shadow: shadowRecord(shadow) }),
  };
}

function tierOf({ owner, sessionId }: RuleRow): RuleTier {
  if (sessionId !== null) return "session";
  return owner === null || owner === "operator" ? "operator" : "token";
}

function shadowRecord(hits: ShadowHits | undefined): NonNullable<Rule["shadow"]> {
  const { wouldDecide = 0, contradictions = 0 } = hits ?? {};
  return { would_decide: wouldDecide, contradictions, ready: contradictions === 0 && wouldDecide >= READY_AFTER };
}

/** The rules of the operator's file. While the file has a mistake, only its deny and ask rules are in force. */
export function fileRules({ rules }: CurrentFile, hits: RuleHits[]): Rule[] {
  return rules.map(({ id, decision, match, reason, interrupt, isShadow }) => ({
    id,
    decision,
    match,
    tier: "file",
    mode: isShadow ? "shadow" : "live",
    ...(reason !== null && { reason }),
    ...(interrupt && { interrupt: true as const }),
    created_by: "operator",
    ...hitsOf(id, hits),
  }));
}

/** The lowest tier: any higher tier can tighten it with an ask or deny rule, and none can loosen it. */
export function builtinRules(hits: RuleHits[]): Rule[] {
  return BUILTIN_RULES.map(({ name, decision, covers }) => {
    const id = `builtin:${name}`;
    return { id, decision, match: covers, tier: "builtin", mode: "live", ...hitsOf(id, hits) };
  });
}

function hitsOf(id: string, hits: RuleHits[]): Pick<Rule, "hits" | "last_hit_at"> {
  const found = hits.find((one) => one.id === id);
  return found ? { hits: found.hits, last_hit_at: seconds(found.lastHitAt) } : { hits: 0 };
}
