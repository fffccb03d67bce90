import type { Judged, NewRule, RuleChange } from "../../../../src/storage/rules.ts";
import { ANY_PENDING, ANY_RULES, newApproval, newRule } from "../../rows.ts";
import type { OpenedStorage } from "../engine.ts";

/** A rule that is on disk, and says what no other one says. */
export async function storedRule(storage: OpenedStorage, given: Partial<NewRule> = {}): Promise<NewRule> {
  const id = storage.newId();
  const rule = newRule({ id, reason: `the reason of ${id}`, ...given });
  await storage.rules.addIfNew(rule, ANY_RULES);
  return rule;
}

/** Judged by the rules as they are now, of which these were used. */
export async function judgedBy(storage: OpenedStorage, ...used: NewRule[]): Promise<Judged> {
  return { version: await storage.rules.version(), used: used.map(({ id }) => id), counted: [], shadows: [] };
}

/** The same rule, changed in some respect. */
export function changeOf(rule: NewRule, given: Partial<RuleChange>): RuleChange {
  const { decision, match, reason, interrupt, mode, expiresAt, usesLeft } = rule;
  return { decision, match, reason, interrupt, mode, expiresAt, usesLeft, ...given };
}

export async function usesLeft(storage: OpenedStorage, ...rules: NewRule[]): Promise<(number | null | undefined)[]> {
  return Promise.all(rules.map(async ({ id }) => (await storage.rules.get(id))?.usesLeft));
}

/** A request that no rule decides, whatever rules there are. */
export async function filedUnderAnyRules(storage: OpenedStorage, given: Parameters<typeof newApproval>[0] = {}) {
  const asked = newApproval({ id: storage.newId(), ...given });
  await storage.approvals.file(asked, ANY_PENDING, await judgedBy(storage));
  return asked;
}
