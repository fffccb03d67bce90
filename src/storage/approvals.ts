import type { ApprovalFilter, ApprovalStatus } from "../contract/approvals/approval.ts";
import type { JsonObject } from "../contract/values.ts";
import type { Judged, NewRule, RuleLimits, RuleRow } from "./rules.ts";

/** One request of a child. It stores its session's name and owner, so the record of a decision outlives the session. */
export type ApprovalRow = {
  id: string;
  sessionId: string;
  sessionName: string;
  /** The turn whose child made the request; for a claude started by hand, its session. */
  askedIn: string;
  /** How many events the turn had when the request was made: what its child had said by then. */
  askedSeq: number | null;
  owner: string;
  toolName: string;
  toolUseId: string | null;
  /** The MCP request that an allow answers: the last one, if the child asked about the same call more than once. */
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
  /** A built-in rule decided the request as it arrived: it was never pending, and nobody was notified. */
  isBuiltin: boolean;
  /** When the waiting child got the decision; from then on the decision is used up. */
  deliveredAt: number | null;
  /** When the call's result appeared in the child's output. */
  resultAt: number | null;
  /** The decision's position in its hash chain; null for decisions from before the chain existed. */
  auditSeq: number | null;
  /** When the input and the edited input were removed to save space; both read `{}` since then. */
  inputCutAt: number | null;
  /** The server whose connection the child waits on, or that expects the child to reconnect. */
  heldBy: string | null;
  /** Null while a connection holds the request; otherwise the time until which its child may reconnect. */
  heldUntil: number | null;
};

/** The small columns. An input may be megabytes, and deciding doesn't need it. */
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
  /**
   * True if the request belongs to its session's running turn, if there is one; a claude started by hand has no turns.
   */
  isInTurn: boolean;
};

export type ApprovalOutcome = {
  status: Exclude<ApprovalStatus, "pending">;
  responseMessage: string | null;
  updatedInput: JsonObject | null;
  interrupt: boolean;
  resolvedAt: number;
  resolvedBy: string;
};
/** The denial that ended a turn: by whom, and why. */
export type Interruption = Pick<ApprovalRow, "responseMessage" | "resolvedBy">;
/** A rule's decision on a request as it is filed. Nobody is notified of decisions by built-in rules. */
export type RuleOutcome = Pick<ApprovalOutcome, "responseMessage" | "interrupt" | "resolvedBy"> & {
  status: "allowed" | "denied";
  isBuiltin: boolean;
};

/** The number of pending approvals, and the total size of their inputs. */
export type PendingSize = { count: number; bytes: number };
export type PendingLimits = { asksPerSession: number; bytesPerSession: number; bytesInAll: number };

export type FiledApproval =
  /**
   * `same`: this very request had already opened this approval, its decision isn't used up, and its child has not left.
   */
  | { outcome: "filed" | "same"; approval: ApprovalHead }
  /** The same call was denied so many times in a row that Plexus denies it without asking anybody. */
  | { outcome: "braked"; approval: ApprovalHead; message: string | null }
  /** The rules have changed since the call was evaluated. */
  | { outcome: "stale" }
  | { outcome: "too_many"; bound: "session_count" | "session_bytes" | "all_bytes" | "owner_bytes"; size: PendingSize };

/** `decided`: filed together with its decision. `same`: it was already filed and decided. */
export type DecidedApproval = { outcome: "decided" | "same"; approval: ApprovalHead } | { outcome: "stale" };

/** The rule that remembers a decision. */
export type Remembered = { rule: NewRule; most: RuleLimits };

/**
 * The decider and its limits: if `owner` is set, only this owner's requests; if `token` is set, only while that token
 * is not revoked; if `link` is set, only what the link with this id may decide.
 */
export type DecidedBy = { owner: string | undefined; token: string | undefined; link?: string };
export type SettledApproval =
  /** `rule` remembers the decision: a new rule, or an existing one that says the same. */
  | { outcome: "settled"; approval: ApprovalHead; rule?: RuleRow }
  | { outcome: "settled_before"; approval: ApprovalHead }
  /** There is no room for the rule that was to remember the decision, so nothing was decided. */
  | { outcome: "too_many_rules" }
  /** The approval doesn't exist, or belongs to another owner. */
  | { outcome: "unknown" }
  /** The decider's token was revoked. */
  | { outcome: "revoked" }
  /** The link doesn't permit this decision, or no longer exists. */
  | { outcome: "not_by_link" };

/**
 * An approval whose last connection to this server closed, and the latest MCP request for it that this server knows.
 */
export type LostConnection = { id: string; asker: string | null };

/** As many approvals as fit in one page, in list order. */
export type ApprovalPage = { rows: ApprovalRow[]; hasMore: boolean };
/** Approvals of one owner, of one session, or all. */
export type ApprovalScope = { owner?: string | undefined; sessionId?: string | undefined };
export type ApprovalQuery = {
  /** Without it, approvals of every status. */
  status?: "pending" | undefined;
  toolName?: string | undefined;
  /** Includes the decisions of built-in rules. */
  withBuiltin?: boolean | undefined;
  cursor?: string | undefined;
  limit: number;
};

/** A cursor in the list of decisions: the page begins after this decision. */
export type DecidedPlace = { at: number; id: string };
export type DecidedQuery = {
  status: Exclude<ApprovalFilter, "pending">;
  toolName?: string | undefined;
  /** Decided at `from` or later, and before `until`. */
  from?: number | undefined;
  until?: number | undefined;
  /**
   * Literal text, case-insensitive: searched in the names of tool and session, the inputs, the message and the decider.
   */
  search?: string | undefined;
  withBuiltin?: boolean | undefined;
  after?: DecidedPlace | undefined;
  limit: number;
  /** The approximate limit on the inputs' total bytes; the first one always fits. */
  maxBytes: number;
};
export type DecidedPage = {
  rows: ApprovalRow[];
  /** The total size of the inputs. */
  bytes: number;
  /** The last decision that the search looked at, which may lie behind the last match; undefined at the end. */
  reached: DecidedPlace | undefined;
};

export type ApprovalStorage = {
  get(id: string): Promise<ApprovalRow | undefined>;
  head(id: string): Promise<ApprovalHead | undefined>;
  /** Reads only the edited input, which is null if nobody edited it. */
  edit(id: string): Promise<Pick<ApprovalRow, "updatedInput" | "inputCutAt"> | undefined>;
  /** Returns the oldest first. */
  listPending(scope: ApprovalScope, limit: number): Promise<ApprovalPage>;
  /** Returns the newest first, beginning after `cursor`. */
  list(scope: ApprovalScope, query: ApprovalQuery): Promise<ApprovalPage>;
  /**
   * Returns the latest decision first. One call looks at a bounded number of decisions, so that it doesn't block other
   * work; the caller continues from `reached`.
   */
  listDecided(scope: ApprovalScope, query: DecidedQuery): Promise<DecidedPage>;
  countPending(sessionId: string): Promise<number>;
  pendingIds(): Promise<Set<string>>;
  pendingIdsOf(sessionId: string): Promise<string[]>;
  nextDeadline(): Promise<number | undefined>;
  /** Returns the first denial in this turn that interrupts it. */
  interruption(turnId: string): Promise<Interruption | undefined>;

  /**
   * Files a request held by a connection to this server, or attaches the connection to the same request if it already
   * waits.
   */
  file(asked: NewApproval, limits: PendingLimits, judged: Judged): Promise<FiledApproval>;
  /** Files a request together with the rule's decision, so it is never pending. */
  fileDecided(asked: NewApproval, decision: RuleOutcome, judged: Judged): Promise<DecidedApproval>;
  /**
   * The only function that decides an approval. A passed deadline wins, then the first caller. If a connection holds
   * the request, the commit also marks the decision as delivered. Without `by`, there is no restriction. With
   * `remember`, the same commit adds the rule, provided that this call decides.
   */
  settleIfPending(
    id: string,
    outcome: ApprovalOutcome,
    by: DecidedBy | undefined,
    remember?: Remembered,
  ): Promise<SettledApproval>;
  /**
   * The same for a rule created after the request; `stale` if the rules have changed since the request was evaluated.
   */
  settleByRuleIfPending(
    id: string,
    outcome: ApprovalOutcome,
    judged: Judged,
  ): Promise<SettledApproval | { outcome: "stale" }>;
  /** Times out up to `limit` approvals past their deadline; returns how many. */
  expireDue(now: number, limit: number): Promise<number>;
  /** Abandons those that are still pending; one past its deadline times out instead. */
  abandonIfPending(ids: string[], reason: string, now: number): Promise<void>;
  /**
   * The same for requests whose child this server expects back; skips those whose child has reconnected, here or
   * elsewhere.
   */
  abandonIfUnheld(ids: string[], reason: string, now: number): Promise<void>;
  /**
   * Marks the decision as delivered. Returns `false` if it is an allow, and a later request about the same call will
   * get it.
   */
  deliverUnlessAskedAgain(id: string, asker: string | null, now: number): Promise<boolean>;
  /** Marks a pending request as held by this server; `undefined` if it doesn't exist or belongs to another session. */
  holdAgain(id: string, sessionId: string | undefined): Promise<ApprovalHead | undefined>;
  /**
   * Call when the last connection to this server has closed: the child may reconnect until `until`, unless a later
   * request already holds the approval.
   */
  releaseIfPending(lost: LostConnection, until: number): Promise<void>;
  /** Takes over the requests held by servers that are gone, and waits `graceMs` for their children; returns the ids. */
  takeOver(graceMs: number): Promise<string[]>;
};
