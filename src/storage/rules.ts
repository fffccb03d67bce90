import type { RuleDecision, RuleMode } from "../contract/rules/rule.ts";

/** A standing decision on the calls that match its pattern. */
export type RuleRow = {
  id: string;
  /** The owner whose sessions it covers; null for all owners. */
  owner: string | null;
  /** The only session that it covers; null for all sessions. */
  sessionId: string | null;
  /** Part of its session's settings, and replaced with them. */
  isSetting: boolean;
  decision: RuleDecision;
  match: string;
  reason: string | null;
  interrupt: boolean;
  mode: RuleMode;
  /** The owner who created it; `createdByName` is the name shown in the record of a decision. */
  createdBy: string;
  createdByName: string;
  createdAt: number;
  expiresAt: number | null;
  /** How many more calls it may decide; null if unlimited. */
  usesLeft: number | null;
  fromApprovalId: string | null;
  hits: number;
  lastHitAt: number | null;
};
export type NewRule = Omit<RuleRow, "hits" | "lastHitAt">;
/** Fields that are left out keep their present value, even one that changed meanwhile. */
export type RuleChange = Partial<
  Pick<RuleRow, "decision" | "match" | "reason" | "interrupt" | "mode" | "expiresAt" | "usesLeft">
>;

/** All rules as of one moment; the version changes whenever a rule is added, changed or removed. */
export type RuleBook = { version: number; rules: RuleRow[] };

/** How a call was evaluated: with which version of the rules, and which hits to record. */
export type Judged = {
  version: number;
  /** The rules that decided; each gets one hit and uses up one of its uses. */
  used: string[];
  /** Rules without a row, from a file or built in, that only get a hit counted. */
  counted: string[];
  /** Shadow rules that would have decided if they were live. */
  shadows: string[];
};

/** How often a rule without a row has decided. */
export type RuleHits = { id: string; hits: number; lastHitAt: number };
export type ShadowHits = { ruleId: string; wouldDecide: number; contradictions: number };

/** `existing`: the creator already has a rule that says the same, and neither of the two expires. */
export type AddedRule =
  | { outcome: "added" | "existing"; rule: RuleRow }
  /** The creator, or all creators together, have reached their limit. */
  | { outcome: "too_many" }
  /** The caller's token was revoked. */
  | { outcome: "revoked" };

export type RuleStorage = {
  book(): Promise<RuleBook>;
  version(): Promise<number>;
  get(id: string): Promise<RuleRow | undefined>;
  /** Hits in this owner's sessions; without an owner, in all sessions, including those of owners that are gone. */
  hits(owner?: string): Promise<RuleHits[]>;
  shadowHits(): Promise<ShadowHits[]>;

  addIfNew(rule: NewRule, most: RuleLimits, token?: string): Promise<AddedRule>;
  /** Returns `undefined` if `by` has created no rule with this id. */
  changeIfMade(
    id: string,
    by: string | undefined,
    change: RuleChange,
    token?: string,
  ): Promise<RuleRow | "revoked" | undefined>;
  removeIfMade(id: string, by: string | undefined, token?: string): Promise<RuleRow | "revoked" | undefined>;
  /** Deletes up to `limit` rules that have expired or are used up; returns how many. */
  removeSpent(now: number, limit: number): Promise<number>;
};
export type RuleLimits = {
  /** Per creator. */
  ofOwner: number;
  inAll: number;
  /** The creator to whom neither limit applies: the operator can always add a rule. */
  exempt?: string;
};
