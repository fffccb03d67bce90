import type { RuleRow, RuleBook as StoredBook } from "../../storage/rules.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Pattern, readMatch } from "../rules/matching/pattern.ts";
import type { HasDangers } from "../rules/matching/prove.ts";
import type { Session } from "../sessions/sessions.ts";
import { type CompiledRule, createRuleSet, type RuleSet } from "./rule-set.ts";
import type { RulesFile } from "./rules-file.ts";

/** The most sets to keep. There is one for each session with rules of its own, and one for each owner and directory. */
const MAX_SETS = 1_000;

type RuleBookNeed = {
  storage: { rules: Pick<Storage["rules"], "book" | "version"> };
  file: RulesFile;
  now: () => number;
  dangersIn: (session: Session) => HasDangers;
};
/**
 * One snapshot of the stored rules, together with the sets made from it, so that no set is used with a later snapshot.
 */
type KeptBook = StoredBook & {
  readAt: number;
  nextExpiry: number;
  /** The sessions that have rules of their own. */
  withRules: ReadonlySet<string>;
  sets: Map<string, RuleSet>;
  fileVersion: number;
};
/** The rules in force in a session, with the version of the stored rules. */
export type Holding = { version: number; set: RuleSet };

export type RuleBook = ReturnType<typeof createRuleBook>;

/**
 * The rules in force, ready for matching. The cache may be outdated at any time: a decision based on it is stored only
 * if its version is still the present one.
 */
export function createRuleBook({ storage, file, now, dangersIn }: RuleBookNeed) {
  let kept: KeptBook | undefined;
  const patterns = new Map<string, Pattern | undefined>();

  function forget(): void {
    kept = undefined;
  }

  /** The cached rules; reads them again if a rule expired or the clock went back. */
  async function book(): Promise<KeptBook> {
    if (kept && now() < kept.nextExpiry && now() >= kept.readAt) return kept;
    const { version, rules } = await storage.rules.book();
    const readAt = now();
    const counting = rules.filter((rule) => doesCount(rule, readAt));
    const nextExpiry = Math.min(...counting.map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY));
    patterns.clear();
    const withRules = new Set(counting.flatMap(({ sessionId }) => sessionId ?? []));
    kept = { version, rules: counting, readAt, nextExpiry, withRules, sets: new Map(), fileVersion: -1 };
    return kept;
  }

  /** Whether the stored rules changed after they were read, for example by another server. */
  async function isOutdated(): Promise<boolean> {
    const version = kept?.version;
    return version !== undefined && (await storage.rules.version()) !== version;
  }

  function compiled(rule: RuleRow): CompiledRule[] {
    const pattern = patternOf(rule.match);
    if (!pattern) return [];
    const { id, decision, match, reason, interrupt, mode, createdBy } = rule;
    return [{ id, decision, match, pattern, reason, interrupt, createdBy, isShadow: mode === "shadow", hasRow: true }];
  }

  function patternOf(match: string): Pattern | undefined {
    if (patterns.has(match)) return patterns.get(match);
    const read = readMatch(match);
    const pattern = "pattern" in read ? read.pattern : undefined;
    patterns.set(match, pattern);
    return pattern;
  }

  return {
    /** Drops the cache, because a rule changed or a judgement was stale. */
    forget,
    isOutdated,
    /** Makes the next read at least as new as this call. Needed for results that are stored without a version. */
    async freshen(): Promise<void> {
      if (await isOutdated()) forget();
    },
    /** The rules in force in a session. */
    async holdingIn(session: Session): Promise<Holding> {
      const read = await book();
      const { version, rules, sets } = read;
      const current = file.current();
      if (current.version !== read.fileVersion) sets.clear();
      read.fileVersion = current.version;
      // Dangers depend on the directory, so sessions of one owner share a set only in the same directory.
      const shared = `${session.owner}\n${session.config?.working_dir ?? ""}`;
      const key = read.withRules.has(session.id) ? session.id : shared;
      let set = sets.get(key);
      if (!set) {
        if (sets.size >= MAX_SETS) sets.clear();
        const holding = rules.filter((rule) => holds(rule, session)).flatMap(compiled);
        set = createRuleSet([...current.rules, ...holding], dangersIn(session));
        sets.set(key, set);
      }
      return { version, set };
    },
  };
}

/** Whether a rule applies to a session. */
export function holds({ owner, sessionId }: Pick<RuleRow, "owner" | "sessionId">, session: Session): boolean {
  return (sessionId === null || sessionId === session.id) && (owner === null || owner === session.owner);
}

export function doesCount({ expiresAt, usesLeft }: Pick<RuleRow, "expiresAt" | "usesLeft">, now: number): boolean {
  return (expiresAt === null || expiresAt > now) && (usesLeft === null || usesLeft > 0);
}
