import type { ApprovalStatus } from "../contract/approvals/approval.ts";
import type { RuleDecision, RuleMode } from "../contract/rules/rule.ts";

/** A standing decision on the calls that match its pattern. */
export type RuleRow = {
  id: string;
  /** Whose sessions it covers; null for everybody's. */
  owner: string | null;
  /** The one session that it covers; null for all. */
  sessionId: string | null;
  /** Given with the settings of its session, and replaced with them. */
  isSetting: boolean;
  decision: RuleDecision;
  match: string;
  reason: string | null;
  interrupt: boolean;
  mode: RuleMode;
  /** Who made it, as owner, and by the name that the record of a decision has. */
  createdBy: string;
  createdByName: string;
  createdAt: number;
  expiresAt: number | null;
  /** How many more calls it may decide; null for any number. */
  usesLeft: number | null;
  fromApprovalId: string | null;
  hits: number;
  lastHitAt: number | null;
};
export type NewRule = Omit<RuleRow, "hits" | "lastHitAt">;
/** What is left out stays as it is, also where it has changed meanwhile. */
export type RuleChange = Partial<
  Pick<RuleRow, "decision" | "match" | "reason" | "interrupt" | "mode" | "expiresAt" | "usesLeft">
>;

/** All rules as of one moment; the version changes with each rule that is added, changed or removed. */
export type RuleBook = { version: number; rules: RuleRow[] };

/** How a call was judged: by which version of the rules, and what that leaves on record. */
export type Judged = {
  version: number;
  /** The rules that decided, each of which is used once more. */
  used: string[];
  /** Rules without a row, of a file or built in, that are counted alone. */
  counted: string[];
  /** Rules that would have decided, were they live. */
  shadows: string[];
};

/** How often a rule that has no row of its own has decided. */
export type RuleHits = { id: string; hits: number; lastHitAt: number };
export type ShadowHits = { ruleId: string; wouldDecide: number; contradictions: number };

/** A past request, without what a rule does not look at. */
export type PastRequest = {
  id: string;
  sessionId: string;
  toolName: string;
  /** As JSON: of most requests a look at the text is enough. */
  inputText: string;
  askHash: string;
  status: ApprovalStatus;
  resolvedBy: string | null;
};
export type PastQuery = {
  owner?: string | undefined;
  sessionId?: string | undefined;
  /** Only calls of these tools; all where none is named. */
  toolNames: string[];
  /** Only what stands before it, newest first. */
  before?: string | undefined;
  limit: number;
};

/** `existing`: its maker has one already that says the same without end, and this one would too. */
export type AddedRule =
  | { outcome: "added" | "existing"; rule: RuleRow }
  /** Its owner, or everybody together, has so many. */
  | { outcome: "too_many" }
  /** The token that calls was. */
  | { outcome: "revoked" };

export type RuleStorage = {
  book(): Promise<RuleBook>;
  version(): Promise<number>;
  get(id: string): Promise<RuleRow | undefined>;
  /** In the sessions of this owner; in everybody's, also of those who are gone, where none is given. */
  hits(owner?: string): Promise<RuleHits[]>;
  shadowHits(): Promise<ShadowHits[]>;
  /** Requests that were decided, or given up, newest first; without those that built-in rules decided, and cut inputs. */
  past(query: PastQuery): Promise<PastRequest[]>;

  addIfNew(rule: NewRule, most: RuleLimits, token?: string): Promise<AddedRule>;
  /** `undefined` when there is none of this id that `by` has made. */
  changeIfMade(
    id: string,
    by: string | undefined,
    change: RuleChange,
    token?: string,
  ): Promise<RuleRow | "revoked" | undefined>;
  removeIfMade(id: string, by: string | undefined, token?: string): Promise<RuleRow | "revoked" | undefined>;
  /** Forgets up to `limit` that have expired, or are used up; returns how many. */
  removeSpent(now: number, limit: number): Promise<number>;
};
export type RuleLimits = {
  /** Of one maker. */
  ofOwner: number;
  inAll: number;
  /** Whose rules nobody else leaves without room. */
  exempt?: string;
};
