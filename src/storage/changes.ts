import type { Change } from "../contract/change.ts";
import type { ApprovalPage, ApprovalScope } from "./approvals.ts";
import type { Reader } from "./readers.ts";
import type { TurnRow } from "./turns.ts";

export type EndedQuery = {
  /** Only turns that ended after this change. */
  since: number;
  /** Skips turns that this reader has already seen while it waited for their session alone. */
  reader?: Reader | undefined;
  limit: number;
};
/** A turn that has ended, its change, and the name of its session. */
export type EndedTurn = { changeId: number; turn: TurnRow; name: string };
/** A turn that runs or is queued. */
export type OngoingTurn = Pick<TurnRow, "id" | "sessionId" | "owner" | "status" | "startedAt" | "spokeAt"> & {
  name: string;
  /** A request of its session is pending. */
  isAsking: boolean;
};

export type AwaitedQuery = {
  ended: EndedQuery;
  /** Ids of approvals to leave out. */
  skip: string[];
  maxPending: number;
  maxOngoing: number;
  /** A claude started by hand counts as alive if it was seen since this time. */
  seenSince: number;
};
/** Everything that a waiting caller needs, as of one moment. */
export type Awaited = {
  newestId: number;
  pending: ApprovalPage;
  /** By end time. */
  ended: EndedTurn[];
  /** By start time. */
  ongoing: OngoingTurn[];
  /** Something is pending, including approvals in `skip`, or a claude started by hand is alive. */
  mayAsk: boolean;
};

/**
 * Changes have one order across all servers: after a caller has read a change, no change with a lower number appears.
 */
export type ChangeStorage = {
  newestId(): Promise<number>;
  oldestAt(): Promise<number | undefined>;
  /** Returns changes in order, beginning after `cursor`; of one owner, or of all. */
  listAfter(cursor: number, owner: string | undefined, limit: number): Promise<Change[]>;
  /** Returns the ended turns in order, without those whose rows were deleted. */
  ended(scope: ApprovalScope, query: EndedQuery): Promise<EndedTurn[]>;
  awaited(scope: ApprovalScope, query: AwaitedQuery): Promise<Awaited>;

  /** Looks at the `limit` oldest changes and deletes those before `before`; returns how many. */
  removeBefore(before: number, limit: number): Promise<number>;
};

/** The last change delivered to a webhook. */
export type WebhookPosition = { id: string; position: number };

export type WebhookStorage = {
  positions(): Promise<WebhookPosition[]>;

  setPosition(webhook: WebhookPosition): Promise<void>;
  /** Stores these positions and deletes all others. */
  replaceAll(webhooks: WebhookPosition[]): Promise<void>;
};
