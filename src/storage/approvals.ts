import type { ApprovalFilter, ApprovalStatus } from "../contract/approvals/approval.ts";
import type { JsonObject } from "../contract/values.ts";
import type { Judged, NewRule, RuleLimits, RuleRow } from "./rules.ts";

/** One request of a child. It carries its session's name and owner, so that the record of a decision outlives the session. */
export type ApprovalRow = {
  id: string;
  sessionId: string;
  sessionName: string;
  /** The turn whose child asks; for a claude that was started by hand, its session. */
  askedIn: string;
  /** How many events its turn had when it was asked: what its child had said until then. */
  askedSeq: number | null;
  owner: string;
  toolName: string;
  toolUseId: string | null;
  /** Which request an allow is for: the last, where one call was asked about more than once. */
  asker: string | null;
  input: JsonObject;
  askHash: string;
  status: ApprovalStatus;
  responseMessage: string | null;
  updatedInput: JsonObject | null;
  interrupt: boolean;
  createdAt: number;
  expiresAt: number;
  resolvedAt: number | null;
  resolvedBy: string | null;
  /** Decided by a built-in rule the moment that it was asked: never pending, and told to nobody. */
  isBuiltin: boolean;
  /** When the decision was handed to the child that waits for it: from then on it is used up. */
  deliveredAt: number | null;
  /** When the result of the call was seen in the child's output. */
  resultAt: number | null;
  /** Where the decision stands in its hash chain; none before there was one. */
  auditSeq: number | null;
  /** When the input, and an edited one, were removed to save space: `{}` stands there since. */
  inputCutAt: number | null;
  /** The server that has a connection on which a child waits for the decision, or that expects the child back. */
  heldBy: string | null;
  /** Null while a connection holds it; else until when its child is expected back. */
  heldUntil: number | null;
};

/** All that is small: an input may be megabytes, and deciding needs none of it. */
export type ApprovalHead = Pick<
  ApprovalRow,
  | "id"
  | "sessionId"
  | "sessionName"
  | "askedIn"
  | "askedSeq"
  | "owner"
  | "toolName"
  | "toolUseId"
  | "asker"
  | "askHash"
  | "status"
  | "createdAt"
  | "expiresAt"
  | "resolvedAt"
  | "resolvedBy"
  | "deliveredAt"
  | "isBuiltin"
>;

export type NewApproval = Pick<
  ApprovalRow,
  | "id"
  | "sessionId"
  | "sessionName"
  | "owner"
  | "toolName"
  | "toolUseId"
  | "asker"
  | "input"
  | "askHash"
  | "createdAt"
  | "expiresAt"
> & {
  /** Asked in the turn that runs in its session, if one does; a claude that was started by hand has no turns. */
  isInTurn: boolean;
};

/** How an approval ended. */
export type ApprovalOutcome = {
  status: Exclude<ApprovalStatus, "pending">;
  responseMessage: string | null;
  updatedInput: JsonObject | null;
  interrupt: boolean;
  resolvedAt: number;
  resolvedBy: string;
};
/** Who ended a turn with a denial, and why. */
export type Interruption = Pick<ApprovalRow, "responseMessage" | "resolvedBy">;
/** What a rule decides as the request is filed; of what a built-in one decides nobody is told. */
export type RuleOutcome = Pick<ApprovalOutcome, "responseMessage" | "interrupt" | "resolvedBy"> & {
  status: "allowed" | "denied";
  isBuiltin: boolean;
};

/** How many approvals are pending, and how large their inputs are together. */
export type PendingSize = { count: number; bytes: number };
export type PendingLimits = { asksPerSession: number; bytesPerSession: number; bytesInAll: number };

export type FiledApproval =
  /** `same` is the approval that this very request opened before, unless it is used up, or its child had gone meanwhile. */
  | { outcome: "filed" | "same"; approval: ApprovalHead }
  /** The same call was denied so often in a row that nobody is asked again. */
  | { outcome: "braked"; approval: ApprovalHead; message: string | null }
  /** The rules have changed since the call was judged. */
  | { outcome: "stale" }
  | { outcome: "too_many"; bound: "session_count" | "session_bytes" | "all_bytes" | "owner_bytes"; size: PendingSize };

/** A request that was filed together with its decision, or that stands decided already. */
export type DecidedApproval = { outcome: "decided" | "same"; approval: ApprovalHead } | { outcome: "stale" };

/** The rule by which a decision is remembered. */
export type Remembered = { rule: NewRule; most: RuleLimits };

/**
 * Who decides: only what is `owner`'s, if that is not everybody's, and only while `token`, if it calls with one, is not
 * revoked. With `link`, the id of one, only what that link may decide.
 */
export type DecidedBy = { owner: string | undefined; token: string | undefined; link?: string };
export type SettledApproval =
  /** With the rule by which it is remembered: a new one, or one that says the same. */
  | { outcome: "settled"; approval: ApprovalHead; rule?: RuleRow }
  | { outcome: "settled_before"; approval: ApprovalHead }
  /** The decision was to be remembered, and there is no room for its rule: nothing was decided. */
  | { outcome: "too_many_rules" }
  /** There is none, or it is another owner's. */
  | { outcome: "unknown" }
  /** The token that decides was. */
  | { outcome: "revoked" }
  /** The link that decides may not, or is gone. */
  | { outcome: "not_by_link" };

/** An approval whose last connection here has ended, and the last request for it that this server knows of. */
export type LostConnection = { id: string; asker: string | null };

/** As many approvals, from the front, as fit in one page. */
export type ApprovalPage = { rows: ApprovalRow[]; hasMore: boolean };
/** Which approvals are meant: those of one owner or session, or all. */
export type ApprovalScope = { owner?: string | undefined; sessionId?: string | undefined };
export type ApprovalQuery = {
  /** Else whatever became of them. */
  status?: "pending" | undefined;
  toolName?: string | undefined;
  /** Whether what built-in rules decided is listed too. */
  withBuiltin?: boolean | undefined;
  cursor?: string | undefined;
  limit: number;
};

/** Where somebody is in the list of decisions: behind this one. */
export type DecidedPlace = { at: number; id: string };
export type DecidedQuery = {
  status: Exclude<ApprovalFilter, "pending">;
  toolName?: string | undefined;
  /** Decided then or later, and before then. */
  from?: number | undefined;
  until?: number | undefined;
  /** A literal text, in any case: in the names of tool and session, the inputs, the message, or who decided. */
  search?: string | undefined;
  withBuiltin?: boolean | undefined;
  after?: DecidedPlace | undefined;
  limit: number;
  /** About how much the inputs that are returned may hold; one always fits. */
  maxBytes: number;
};
export type DecidedPage = {
  rows: ApprovalRow[];
  /** How many bytes their inputs hold. */
  bytes: number;
  /** How far was looked, which may be further than what was found; none at the end. */
  reached: DecidedPlace | undefined;
};

export type ApprovalStorage = {
  get(id: string): Promise<ApprovalRow | undefined>;
  head(id: string): Promise<ApprovalHead | undefined>;
  /** What its input was edited to, which is all that is read; null where it was not. */
  edit(id: string): Promise<Pick<ApprovalRow, "updatedInput" | "inputCutAt"> | undefined>;
  /** Oldest first. */
  listPending(scope: ApprovalScope, limit: number): Promise<ApprovalPage>;
  /** Newest first, beginning after `cursor`. */
  list(scope: ApprovalScope, query: ApprovalQuery): Promise<ApprovalPage>;
  /** The last decision first. It looks at a bounded number of decisions, so that others get their turn: go on from `reached`. */
  listDecided(scope: ApprovalScope, query: DecidedQuery): Promise<DecidedPage>;
  countPending(sessionId: string): Promise<number>;
  pendingIds(): Promise<Set<string>>;
  pendingIdsOf(sessionId: string): Promise<string[]>;
  nextDeadline(): Promise<number | undefined>;
  /** The first denial in this turn that was to end it. */
  interruption(turnId: string): Promise<Interruption | undefined>;

  /** Files a request that is held by a connection here, or attaches it to the same one that waits already. */
  file(asked: NewApproval, limits: PendingLimits, judged: Judged): Promise<FiledApproval>;
  /** Files a request together with the decision of a rule: nobody has to be asked. */
  fileDecided(asked: NewApproval, decision: RuleOutcome, judged: Judged): Promise<DecidedApproval>;
  /**
   * The one place where an approval is decided: a deadline that has passed decides first, then whoever comes first. Where
   * a connection holds it, the decision is delivered with its commit. Without `by`, whoever decides may decide everything.
   * With `remember`, the rule is added in the same commit, where this decides.
   */
  settleIfPending(
    id: string,
    outcome: ApprovalOutcome,
    by: DecidedBy | undefined,
    remember?: Remembered,
  ): Promise<SettledApproval>;
  /** The same for a rule that was made after the request; `stale` when the rules have changed since it was judged. */
  settleByRuleIfPending(
    id: string,
    outcome: ApprovalOutcome,
    judged: Judged,
  ): Promise<SettledApproval | { outcome: "stale" }>;
  /** Settles up to `limit` that are past their deadline; returns how many. */
  expireDue(now: number, limit: number): Promise<number>;
  /** Gives up those that are still pending; a deadline that has passed decides first. */
  abandonIfPending(ids: string[], reason: string, now: number): Promise<void>;
  /** The same for those that this server expects back, unless their child has come back, here or to another server. */
  abandonIfUnheld(ids: string[], reason: string, now: number): Promise<void>;
  /** Notes that the decision was handed over; `false` when an allow is for somebody who asked about the call later. */
  deliverUnlessAskedAgain(id: string, asker: string | null, now: number): Promise<boolean>;
  /** Holds it from here if it is pending; `undefined` when there is none, or it is another session's. */
  holdAgain(id: string, sessionId: string | undefined): Promise<ApprovalHead | undefined>;
  /** The last connection here has ended: unless a later request holds it, its child is expected back until then. */
  releaseIfPending(lost: LostConnection, until: number): Promise<void>;
  /** What servers that are gone held is this one's from now on, and waits so long for its children; returns the ids. */
  takeOver(graceMs: number): Promise<string[]>;
};
