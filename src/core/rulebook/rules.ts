import { AppError, tokenRevoked } from "../../contract/refusals/errors.ts";
import type { AddedRule } from "../../contract/rules/answers.ts";
import type { Rule, RuleInput, RulesFileStatus, RuleUpdate, SessionRule } from "../../contract/rules/rule.ts";
import type { NewRule, RuleChange, RuleLimits, RuleRow } from "../../storage/rules.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerName } from "../access/owner-name.ts";
import { callingToken, displayName, mayDecide, ownerKey, type Principal, visibleOwner } from "../access/principals.ts";
import { coverageNote, coverageNotes } from "../rules/matching/coverage-note.ts";
import { type Pattern, readMatch } from "../rules/matching/pattern.ts";
import type { Session, Sessions } from "../sessions/sessions.ts";
import { doesCount, holds, type RuleBook } from "./rule-book.ts";
import { builtinRules, fileRules, toRule } from "./rule-view.ts";
import type { RulesFile } from "./rules-file.ts";

export const MOST_RULES: RuleLimits = { ofOwner: 2_000, inAll: 10_000, exempt: ownerKey({ kind: "operator" }) };

/** The most decided requests that the result of a new rule names. */
const MAX_DECIDED = 100;

type RulesNeed = {
  storage: Pick<Storage, "rules" | "approvals" | "tokens" | "newId">;
  book: RuleBook;
  file: RulesFile;
  sessions: Pick<Sessions, "require" | "get">;
  now: () => number;
  /** Called after a change of the rules, to judge the pending requests again. */
  onChanged: () => Promise<void>;
};

const OTHER_REASON = "You have this rule already, with another reason, which stays: the new one is not kept.";

/** A rule, with a note on what it will not do although its match suggests it. */
export type NotedRule = { rule: Rule; note?: string };

export type Rules = ReturnType<typeof createRules>;

/** The operations of people and parents on rules. Only the maker of a rule and the operator may change it. */
export function createRules({ storage, book, file, sessions, now, onChanged }: RulesNeed) {
  async function changed(): Promise<void> {
    book.forget();
    await onChanged();
  }

  /** The rules that the caller may see: its own, and all that apply to it. */
  async function visible(principal: Principal): Promise<RuleRow[]> {
    const { rules } = await storage.rules.book();
    return rules.filter((rule) => doesCount(rule, now()) && (rule.owner === null || mayDecide(principal, rule.owner)));
  }

  async function shown(rows: RuleRow[]): Promise<Rule[]> {
    const shadows = rows.some(({ mode }) => mode === "shadow") ? await storage.rules.shadowHits() : [];
    const owners = [...new Set(rows.flatMap(({ owner }) => owner ?? []))];
    const names = new Map(await Promise.all(owners.map(async (key) => [key, await ownerName(storage, key)] as const)));
    return rows.map((row) => {
      const shadow = shadows.find(({ ruleId }) => ruleId === row.id);
      return toRule(row, row.owner && (names.get(row.owner) ?? row.owner), shadow);
    });
  }

  async function one(row: RuleRow): Promise<Rule> {
    const [rule] = await shown([row]);
    if (!rule) throw unknown(row.id);
    return rule;
  }

  /** The rule with its note, for the caller who has just asked for it. */
  async function noted(row: RuleRow, wanted?: Pick<NewRule, "reason">): Promise<NotedRule> {
    const rule = await one(row);
    const isOtherReason = wanted !== undefined && wanted.reason !== null && wanted.reason !== row.reason;
    const coverage = coverageNote(row.decision, row.match, patternOf(row.match));
    const notes = [...(isOtherReason ? [OTHER_REASON] : []), ...(coverage === undefined ? [] : [coverage])];
    return { rule, ...(notes.length > 0 && { note: notes.join(" ") }) };
  }

  /** The formerly pending requests that the new rule decided. */
  async function decidedOf(
    pending: Set<string>,
    { id }: RuleRow,
    principal: Principal,
  ): Promise<Pick<AddedRule, "decided_pending" | "has_more">> {
    const still = await storage.approvals.pendingIds();
    const found: string[] = [];
    for (const one of [...pending].filter((candidate) => !still.has(candidate)).sort()) {
      if (found.length > MAX_DECIDED) break;
      const head = await storage.approvals.head(one);
      if (head?.resolvedBy === `rule:${id}` && mayDecide(principal, head.owner)) found.push(one);
    }
    const decided_pending = found.slice(0, MAX_DECIDED);
    if (found.length === 0) return {};
    return { decided_pending, ...(found.length > MAX_DECIDED && { has_more: true as const }) };
  }

  function unknown(id: string): AppError {
    return new AppError(
      "not_found",
      (by) => `You have made no rule ${id}: list them${by.rules} to see the ids of those that you made.`,
    );
  }

  return {
    /** All rules that apply to the caller, or in one session, the strictest first. */
    async list(principal: Principal, sessionKey?: string): Promise<Rule[]> {
      const session = sessionKey === undefined ? undefined : await sessions.require(principal, sessionKey);
      const rows = (await visible(principal)).filter((row) => session === undefined || holds(row, session));
      // Only the operator may see how often rules decided for other owners.
      const counted = await storage.rules.hits(visibleOwner(principal));
      const current = file.current();
      return [...fileRules(current, counted), ...(await shown(rows)), ...builtinRules(counted)].toSorted(byStrictness);
    },

    /** Adds the rule, or returns the same one if the caller has it already. */
    async add(principal: Principal, given: RuleInput): Promise<Omit<AddedRule, "type">> {
      const session = given.session_id === undefined ? undefined : await sessions.require(principal, given.session_id);
      const owner = session?.owner ?? (principal.kind === "operator" ? null : ownerKey(principal));
      const rule = newRule(given, principal, { owner, sessionId: session?.id ?? null });
      const pending = await storage.approvals.pendingIds();
      const added = await storage.rules.addIfNew(rule, MOST_RULES, callingToken(principal));
      if (added.outcome === "revoked") throw tokenRevoked();
      if (added.outcome === "too_many") throw tooManyRules();
      const told = await noted(added.rule, rule);
      if (added.outcome === "existing") return { ...told, existing: true };
      await changed();
      return { ...told, ...(await decidedOf(pending, added.rule, principal)) };
    },

    async change(principal: Principal, id: string, given: RuleUpdate): Promise<NotedRule> {
      const row = await storage.rules.get(id);
      if (!row || !isMaker(principal, row)) throw unknown(id);
      patternOf(given.match ?? row.match);
      const decision = given.decision ?? row.decision;
      const interrupt = given.interrupt ?? (row.interrupt && decision === "deny");
      if (interrupt && decision !== "deny") throw new AppError("invalid_arguments", "interrupt goes with deny only.");
      const change: RuleChange = {
        interrupt,
        ...(given.decision !== undefined && { decision }),
        ...(given.match !== undefined && { match: given.match }),
        ...(given.reason !== undefined && { reason: given.reason || null }),
        ...(given.mode !== undefined && { mode: given.mode }),
        ...(given.expires_in_secs !== undefined && { expiresAt: expiryOf(given.expires_in_secs ?? undefined) }),
        ...(given.uses !== undefined && { usesLeft: given.uses }),
      };
      const changedRow = await storage.rules.changeIfMade(id, makerOf(principal), change, callingToken(principal));
      if (changedRow === "revoked") throw tokenRevoked();
      if (!changedRow) throw unknown(id);
      await changed();
      return noted(changedRow);
    },

    async remove(principal: Principal, id: string): Promise<void> {
      const removed = await storage.rules.removeIfMade(id, makerOf(principal), callingToken(principal));
      if (removed === "revoked") throw tokenRevoked();
      if (!removed) throw unknown(id);
      await changed();
    },

    newRule,
    /** Notes on what the rules in a session's settings will not do although their matches suggest it. */
    notesOn: (given: readonly SessionRule[]): string[] =>
      coverageNotes(given.map(({ decision, match }) => ({ decision, match, pattern: patternOf(match) }))),
    /** The rules that a session gets with its settings. */
    settingsOf: (
      principal: Principal,
      session: Pick<Session, "id" | "owner">,
      given: readonly SessionRule[],
    ): NewRule[] =>
      given.map((one) => newRule(one, principal, { owner: session.owner, sessionId: session.id, isSetting: true })),
    changed,
    noted,
    /** The state of the operator's file; `undefined` if there is none. */
    fileStatus: (): RulesFileStatus | undefined => file.current().status,
  };

  function newRule(
    given: SessionRule,
    principal: Principal,
    scope: Pick<NewRule, "owner" | "sessionId"> & { isSetting?: boolean; fromApprovalId?: string },
  ): NewRule {
    patternOf(given.match);
    return {
      id: storage.newId(),
      owner: scope.owner,
      sessionId: scope.sessionId,
      isSetting: scope.isSetting ?? false,
      decision: given.decision,
      match: given.match,
      reason: given.reason || null,
      interrupt: given.interrupt ?? false,
      mode: given.mode ?? "live",
      createdBy: ownerKey(principal),
      createdByName: displayName(principal),
      createdAt: now(),
      expiresAt: expiryOf(given.expires_in_secs),
      usesLeft: given.uses ?? null,
      fromApprovalId: scope.fromApprovalId ?? null,
    };
  }

  function expiryOf(seconds: number | undefined): number | null {
    return seconds === undefined ? null : now() + seconds * 1000;
  }
}

function patternOf(match: string): Pattern {
  const read = readMatch(match);
  if ("pattern" in read) return read.pattern;
  throw new AppError("invalid_arguments", `match ${read.problem}.`, { quotes: true });
}

/** The maker whose rules a principal may change; `undefined` means every maker. */
function makerOf(principal: Principal): string | undefined {
  return principal.kind === "operator" ? undefined : ownerKey(principal);
}

function isMaker(principal: Principal, { createdBy }: RuleRow): boolean {
  return (makerOf(principal) ?? createdBy) === createdBy;
}

export function tooManyRules(): AppError {
  const limit = `of at most ${MOST_RULES.ofOwner} of one maker, and ${MOST_RULES.inAll} in all`;
  return new AppError("limit_reached", `There are too many rules, ${limit}: remove some that are not used.`);
}

const STRICTNESS = ["deny", "ask", "allow"] as const;

function byStrictness(a: Rule, b: Rule): number {
  return STRICTNESS.indexOf(a.decision) - STRICTNESS.indexOf(b.decision);
}
