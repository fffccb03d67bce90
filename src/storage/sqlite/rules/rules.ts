import { and, asc, eq, inArray, isNull, like, lt, ne, not, or, type SQL, sql } from "drizzle-orm";
import type { NewRule, RuleBook, RuleChange, RuleHits, RuleRow, ShadowHits } from "../../rules.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals, ruleHits, rules, rulesVersion, shadowHits } from "../tables.ts";

/** The columns that make two rules the same. The reason is not among them: it changes nothing of what a rule decides. */
const SAYING = ["createdBy", "owner", "sessionId", "decision", "match", "interrupt", "mode"] as const;

/** The rule has neither expired nor been used up. */
const counts = sql`(expires_at IS NULL OR expires_at > ${sql.placeholder("now")}) AND (uses_left IS NULL OR uses_left > 0)`;

export type RuleQueries = ReturnType<typeof ruleQueries>;

/** Queries on the rules. Those that write run inside a transaction of the writer. */
export function ruleQueries(orm: Orm) {
  const at = sql.placeholder;
  const present = orm
    .select({ version: rulesVersion.version })
    .from(rulesVersion)
    .where(eq(rulesVersion.id, 1))
    .prepare();
  const next = orm
    .insert(rulesVersion)
    .values({ id: 1, version: 1 })
    .onConflictDoUpdate({ target: rulesVersion.id, set: { version: sql`version + 1` } })
    .prepare();
  const all = orm.select().from(rules).orderBy(asc(rules.id)).prepare();
  const byId = orm
    .select()
    .from(rules)
    .where(eq(rules.id, at("id")))
    .prepare();
  const use = orm
    .update(rules)
    .set({ hits: sql`hits + 1`, usesLeft: sql`uses_left - 1`, lastHitAt: sql`${at("now")}` })
    .where(eq(rules.id, at("id")))
    .prepare();
  const counting = orm
    .select({ id: rules.id })
    .from(rules)
    .where(and(eq(rules.id, at("id")), counts))
    .prepare();
  const count = orm
    .insert(ruleHits)
    .values({ id: at("id"), owner: at("owner"), hits: 1, lastHitAt: at("now") })
    .onConflictDoUpdate({
      target: [ruleHits.id, ruleHits.owner],
      set: { hits: sql`hits + 1`, lastHitAt: sql`excluded.last_hit_at` },
    })
    .prepare();
  const noteShadow = orm
    .insert(shadowHits)
    .values({ ruleId: at("ruleId"), approvalId: at("approvalId") })
    .onConflictDoNothing()
    .prepare();

  const version = () => present.get()?.version ?? 0;
  const changed = () => void next.run();

  return {
    version,
    changed,
    book: (): RuleBook => ({ version: version(), rules: all.all() }),
    get: (id: string): RuleRow | undefined => byId.get({ id }),
    hits: (owner?: string): RuleHits[] =>
      orm
        .select({ id: ruleHits.id, hits: sql<number>`sum(hits)`, lastHitAt: sql<number>`max(last_hit_at)` })
        .from(ruleHits)
        .where(owner === undefined ? undefined : eq(ruleHits.owner, owner))
        .groupBy(ruleHits.id)
        .all(),
    /** Moves a deleted owner's hits to the empty owner, so that totals over all owners still include them. */
    forgetOwnerOfHits(owner: string): void {
      const own = orm
        .select({
          id: ruleHits.id,
          owner: sql<string>`''`.as("owner"),
          hits: ruleHits.hits,
          lastHitAt: ruleHits.lastHitAt,
        })
        .from(ruleHits)
        .where(eq(ruleHits.owner, owner));
      orm
        .insert(ruleHits)
        .select(own)
        .onConflictDoUpdate({
          target: [ruleHits.id, ruleHits.owner],
          set: {
            hits: sql`rule_hits.hits + excluded.hits`,
            lastHitAt: sql`max(rule_hits.last_hit_at, excluded.last_hit_at)`,
          },
        })
        .run();
      orm.delete(ruleHits).where(eq(ruleHits.owner, owner)).run();
    },
    shadowHits: (): ShadowHits[] =>
      orm
        .select({
          ruleId: shadowHits.ruleId,
          wouldDecide: sql<number>`count(*)`,
          contradictions: sql<number>`sum(${disagrees})`,
        })
        .from(shadowHits)
        .innerJoin(rules, eq(rules.id, shadowHits.ruleId))
        .innerJoin(approvals, eq(approvals.id, shadowHits.approvalId))
        .where(isByPerson)
        .groupBy(shadowHits.ruleId)
        .all(),
    countOf: (createdBy: string): number =>
      orm.select({ count: sql<number>`count(*)` }).from(rules).where(eq(rules.createdBy, createdBy)).get()?.count ?? 0,
    countAll: (): number => orm.select({ count: sql<number>`count(*)` }).from(rules).get()?.count ?? 0,
    /** Returns a rule of the same creator that says the same, if neither of the two can expire. */
    sameAs: (rule: NewRule): RuleRow | undefined => {
      const { expiresAt, usesLeft, isSetting } = rule;
      if (expiresAt !== null || usesLeft !== null || isSetting) return undefined;
      const same = SAYING.map((key) => (rule[key] === null ? isNull(rules[key]) : eq(rules[key], rule[key])));
      return orm
        .select()
        .from(rules)
        .where(and(...same, eq(rules.isSetting, false), isNull(rules.expiresAt), isNull(rules.usesLeft)))
        .orderBy(asc(rules.id))
        .limit(1)
        .get();
    },
    add: (rule: NewRule): void =>
      void orm
        .insert(rules)
        .values({ ...rule, hits: 0, lastHitAt: null })
        .run(),
    change: (id: string, by: string | undefined, to: RuleChange): RuleRow | undefined =>
      orm.update(rules).set(to).where(made(id, by)).returning().get(),
    remove: (id: string, by: string | undefined): RuleRow | undefined =>
      orm.delete(rules).where(made(id, by)).returning().get(),
    removeSettingsOf: (sessionId: string, madeBy: string | undefined): void =>
      void orm
        .delete(rules)
        .where(
          and(
            eq(rules.sessionId, sessionId),
            eq(rules.isSetting, true),
            madeBy === undefined ? undefined : eq(rules.createdBy, madeBy),
          ),
        )
        .run(),
    /** Returns the rules that a fork of this session inherits: those of its settings, and all that deny or ask. */
    inheritedFrom: (sessionId: string, forOwner: string): RuleRow[] =>
      orm
        .select()
        .from(rules)
        // A fork doesn't inherit allow rules with limited uses, or those created by another owner.
        .where(
          and(
            eq(rules.sessionId, sessionId),
            or(
              ne(rules.decision, "allow"),
              and(eq(rules.isSetting, true), isNull(rules.usesLeft), eq(rules.createdBy, forOwner)),
            ),
          ),
        )
        .all(),
    isAnyOf: (sessionId: string): boolean =>
      orm.select({ id: rules.id }).from(rules).where(eq(rules.sessionId, sessionId)).limit(1).get() !== undefined,
    /** Deletes a token's allow rules; its other rules stay. */
    removeAllowsOf: (createdBy: string): boolean =>
      orm
        .delete(rules)
        .where(and(eq(rules.createdBy, createdBy), eq(rules.decision, "allow")))
        .returning({ id: rules.id })
        .all().length > 0,
    removeSpent: (now: number, limit: number): number => {
      const spent = orm
        .select({ id: rules.id })
        .from(rules)
        .where(or(and(sql`expires_at IS NOT NULL`, lt(rules.expiresAt, now)), eq(rules.usesLeft, 0)))
        .limit(limit);
      return orm.delete(rules).where(inArray(rules.id, spent)).returning({ id: rules.id }).all().length;
    },
    /** Returns whether the rule exists, has not expired and is not used up. */
    counts: (id: string, now: number): boolean => counting.get({ id, now }) !== undefined,
    use: (id: string, now: number): void => void use.run({ id, now }),
    count: (id: string, owner: string, now: number): void => void count.run({ id, owner, now }),
    noteShadow: (ruleId: string, approvalId: string): void => void noteShadow.run({ ruleId, approvalId }),
  };
}

/** The request was decided differently than the shadow rule would have decided it. */
const disagrees = sql`CASE rules.decision
  WHEN 'allow' THEN loopback_approvals.status = 'denied'
  WHEN 'deny' THEN loopback_approvals.status = 'allowed'
  ELSE 0 END`;

/** A person or an agent decided the request: no rule, no brake and no timeout. A rule's trial on the past counts the same. */
const isByPerson = and(
  inArray(approvals.status, ["allowed", "denied"]),
  eq(approvals.isBuiltin, false),
  ne(approvals.resolvedBy, "brake"),
  not(like(approvals.resolvedBy, "rule:%")),
);

function made(id: string, by: string | undefined): SQL | undefined {
  return and(eq(rules.id, id), by === undefined ? undefined : eq(rules.createdBy, by));
}
