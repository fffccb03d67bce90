import type { Judged, NewRule, RuleChange } from "../../../../src/storage/rules.ts";
import { ANY_PENDING, ANY_RULES, newApproval, newRule } from "../../rows.ts";
import type { OpenedStorage } from "../engine.ts";

/** Stores a rule that differs from every other. */
export async function storedRule(storage: OpenedStorage, given: Partial<NewRule> = {}): Promise<NewRule> {
  const id = storage.newId();
  const rule = newRule({ id, match: `Bash(true ${id})`, ...given });
  await storage.rules.addIfNew(rule, ANY_RULES);
  return rule;
}

/** An evaluation by the present rules, which used the given ones. */
export async function judgedBy(storage: OpenedStorage, ...used: NewRule[]): Promise<Judged> {
  return { version: await storage.rules.version(), used: used.map(({ id }) => id), counted: [], shadows: [] };
}

/** A change of this rule with the given fields. */
export function changeOf(rule: NewRule, given: Partial<RuleChange>): RuleChange {
  const { decision, match, reason, interrupt, mode, expiresAt, usesLeft } = rule;
  return { decision, match, reason, interrupt, mode, expiresAt, usesLeft, ...given };
}

export async function usesLeft(storage: OpenedStorage, ...rules: NewRule[]): Promise<(number | null | undefined)[]> {
  return Promise.all(rules.map(async ({ id }) => (await storage.rules.get(id))?.usesLeft));
}

/** Files a request that no rule decides. */
export async function filedUnderAnyRules(storage: OpenedStorage, given: Parameters<typeof newApproval>[0] = {}) {
  const asked = newApproval({ id: storage.newId(), ...given });
  await storage.approvals.file(asked, ANY_PENDING, await judgedBy(storage));
  return asked;
}
