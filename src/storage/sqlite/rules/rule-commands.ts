import type { Judged, NewRule, RuleLimits, RuleStorage } from "../../rules.ts";
import type { TokenQueries } from "../access/tokens.ts";
import type { Write } from "../writer.ts";
import type { RuleQueries } from "./rules.ts";

type RuleCommands = Pick<RuleStorage, "addIfRoom" | "changeIfMade" | "removeIfMade" | "removeSpent">;

type RuleCommandsNeed = { write: Write; rules: RuleQueries; tokens: TokenQueries };

export function ruleCommands({ write, rules, tokens }: RuleCommandsNeed): RuleCommands {
  /** What changed the rules makes every judgement by their earlier version stale. */
  function noting<T>(changed: T): T {
    if (changed) rules.changed();
    return changed;
  }

  return {
    addIfRoom: (rule, most, token) =>
      write(() => {
        if (tokens.isRevoked(token)) return "revoked";
        if (!isRoomFor(rules, [rule], most)) return "too_many";
        addRules(rules, [rule]);
        return "added";
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

/** Adds rules in the transaction at hand. */
export function addRules(rules: RuleQueries, added: readonly NewRule[]): void {
  for (const rule of added) rules.add(rule);
  if (added.length > 0) rules.changed();
}

/** Whether a judgement still holds: by the present rules, of which all that it used still count. */
export function holds(rules: RuleQueries, { version, used }: Judged, now: number): boolean {
  return rules.version() === version && used.every((id) => rules.counts(id, now));
}

/** Puts on record which rules have decided a request, and which would have. */
export function record(rules: RuleQueries, { used, counted, shadows }: Judged, approvalId: string, now: number): void {
  for (const id of used) rules.use(id, now);
  for (const id of counted) rules.count(id, now);
  for (const id of shadows) rules.noteShadow(id, approvalId);
}
