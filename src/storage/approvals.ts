import type { ApprovalFilter, ApprovalStatus } from "../contract/approvals/approval.ts";
import type { JsonObject } from "../contract/values.ts";

/** One request of a child. It carries its session's name and owner, so that the record of a decision outlives the session. */
export type ApprovalRow = {
  id: string;
  sessionId: string;
  sessionName: string;
  /** The turn whose child asks; for a claude that was started by hand, its session. */
  askedIn: string;
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
  /** The server that has, or last had, a connection on which a child waits for the decision. */
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
/** What a built-in rule decides as the request is filed. */
export type BuiltinOutcome = Pick<ApprovalOutcome, "responseMessage" | "resolvedBy"> & {
  status: "allowed" | "denied";
};

/** How many approvals are pending, and how large their inputs are together. */
export type PendingSize = { count: number; bytes: number };
export type PendingLimits = { asksPerSession: number; bytesPerSession: number; bytesInAll: number };

export type FiledApproval =
  /** `same` is the approval that this very request opened before, unless it is used up, or its child had gone meanwhile. */
  | { outcome: "filed" | "same"; approval: ApprovalHead }
  | { outcome: "too_many"; bound: "session_count" | "session_bytes" | "all_bytes" | "owner_bytes"; size: PendingSize };

export type SettledApproval =
  | { outcome: "settled" | "settled_before"; approval: ApprovalHead }
  /** There is none, or it is another owner's. */
  | { outcome: "unknown" };

/** An approval whose last connection here has ended, and the last request for it that this server knows of. */
export type LostConnection = { id: string; asker: string | null };

/** As many approvals, from the front, as fit in one page. */
export type ApprovalPage = { rows: ApprovalRow[]; hasMore: boolean };
/** Which approvals are meant: those of one owner or session, or all. */
export type ApprovalScope = { owner?: string | undefined; sessionId?: string | undefined };
export type ApprovalQuery = {
  status?: ApprovalFilter | undefined;
  toolName?: string | undefined;
  decidedFrom?: number | undefined;
  /** Whether what built-in rules decided is listed too. */
  withBuiltin?: boolean | undefined;
  cursor?: string | undefined;
  limit: number;
};

export type ApprovalStorage = {
  get(id: string): Promise<ApprovalRow | undefined>;
  head(id: string): Promise<ApprovalHead | undefined>;
  /** Oldest first. */
  listPending(scope: ApprovalScope, limit: number): Promise<ApprovalPage>;
  /** Newest first, beginning after `cursor`. */
  list(scope: ApprovalScope, query: ApprovalQuery): Promise<ApprovalPage>;
  countPending(sessionId: string): Promise<number>;
  pendingIds(): Promise<Set<string>>;
  pendingIdsOf(sessionId: string): Promise<string[]>;
  nextDeadline(): Promise<number | undefined>;

  /** Files a request that is held by a connection here, or attaches it to the same one that waits already. */
  file(asked: NewApproval, limits: PendingLimits): Promise<FiledApproval>;
  /** Files a request together with its decision: nobody has to be asked, so nobody is told. */
  fileDecided(asked: NewApproval, decision: BuiltinOutcome): Promise<ApprovalHead>;
  /**
   * The one place where an approval is decided: a deadline that has passed decides first, then whoever comes first. Where
   * a connection holds it, the decision is delivered with its commit. With `owner`, only that owner's is decided.
   */
  settleIfPending(id: string, outcome: ApprovalOutcome, owner: string | undefined): Promise<SettledApproval>;
  /** Settles up to `limit` that are past their deadline; returns how many. */
  expireDue(now: number, limit: number): Promise<number>;
  /** Gives up those that are still pending; a deadline that has passed decides first. */
  abandonIfPending(ids: string[], reason: string, now: number): Promise<void>;
  /** The same for those that nobody came back for, on any connection of any server. */
  abandonIfUnheld(ids: string[], reason: string, now: number): Promise<void>;
  /** Notes that the decision was handed over; `false` when an allow is for somebody who asked about the call later. */
  deliverUnlessAskedAgain(id: string, asker: string | null, now: number): Promise<boolean>;
  /** Holds it from here if it is pending; `undefined` when there is none, or it is another session's. */
  holdAgain(id: string, sessionId: string | undefined): Promise<ApprovalHead | undefined>;
  /** The last connection here has ended: unless a later request holds it, its child is expected back until then. */
  releaseIfPending(lost: LostConnection, until: number): Promise<void>;
  /**
   * Call once, before any request is filed here: what servers that are gone held waits for its children to come back until
   * then. An engine that several servers share takes only what is held by servers whose lease has run out. Returns the ids
   * of all that is pending.
   */
  releaseHeldByOthers(until: number): Promise<string[]>;
};
