import type { ApprovalHead } from "../../approvals.ts";
import type { Judged, NewRule, RuleLimits, RuleRow, RuleStorage } from "../../rules.ts";
import type { TokenQueries } from "../access/tokens.ts";
import type { Write } from "../writer.ts";
import type { RuleQueries } from "./rules.ts";

type RuleCommands = Pick<RuleStorage, "addIfNew" | "changeIfMade" | "removeIfMade" | "removeSpent">;

type RuleCommandsNeed = { write: Write; rules: RuleQueries; tokens: TokenQueries };

export function ruleCommands({ write, rules, tokens }: RuleCommandsNeed): RuleCommands {
  /** Increases the version if the rules have changed, which makes every evaluation by an earlier version stale. */
  function noting<T>(changed: T): T {
    if (changed) rules.changed();
    return changed;
  }

  return {
    addIfNew: (rule, most, token) =>
      write(() => {
        if (tokens.isRevoked(token)) return { outcome: "revoked" };
        const existing = rules.sameAs(rule);
        if (existing) return { outcome: "existing", rule: existing };
        if (!isRoomFor(rules, [rule], most)) return { outcome: "too_many" };
        return { outcome: "added", rule: addRule(rules, rule) };
      }),
    changeIfMade: (id, by, change, token) =>
      write(() => (tokens.isRevoked(token) ? "revoked" : noting(rules.change(id, by, change)))),
    removeIfMade: (id, by, token) => write(() => (tokens.isRevoked(token) ? "revoked" : noting(rules.remove(id, by)))),
    removeSpent: (now, limit) => write(() => noting(rules.removeSpent(now, limit))),
  };
}

export function isRoomFor(rules: RuleQueries, added: readonly NewRule[], most: RuleLimits): boolean {
  const byMaker = Map.groupBy(added, ({ createdBy }) => createdBy);
  for (const [maker, own] of byMaker)
    if (maker !== most.exempt && rules.countOf(maker) + own.length > most.ofOwner) return false;
  const bounded = added.filter(({ createdBy }) => createdBy !== most.exempt).length;
  return bounded === 0 || rules.countAll() + bounded <= most.inAll;
}

/** Adds a rule inside the current transaction. */
export function addRule(rules: RuleQueries, rule: NewRule): RuleRow {
  addRules(rules, [rule]);
  return { ...rule, hits: 0, lastHitAt: null };
}

export function addRules(rules: RuleQueries, added: readonly NewRule[]): void {
  for (const rule of added) rules.add(rule);
  if (added.length > 0) rules.changed();
}

/** Returns whether an evaluation still holds: the rules have not changed, and every rule it used is still valid. */
export function holds(rules: RuleQueries, { version, used }: Judged, now: number): boolean {
  return rules.version() === version && used.every((id) => rules.counts(id, now));
}

/** Records which rules decided a request, and which shadow rules would have. */
export function record(
  rules: RuleQueries,
  { used, counted, shadows }: Judged,
  { id: approvalId, owner }: Pick<ApprovalHead, "id" | "owner">,
  now: number,
): void {
  for (const id of used) rules.use(id, now);
  for (const id of counted) rules.count(id, owner, now);
  for (const id of shadows) rules.noteShadow(id, approvalId);
}
