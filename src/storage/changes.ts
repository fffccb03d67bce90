import type { Change } from "../contract/change.ts";
import type { ApprovalPage, ApprovalScope } from "./approvals.ts";
import type { Reader } from "./readers.ts";
import type { TurnRow } from "./turns.ts";

export type EndedQuery = {
  /** Only turns that ended after this change. */
  since: number;
  /** Leaves out those that this reader was told of in their session alone. */
  reader?: Reader | undefined;
  limit: number;
};
/** A turn that has ended, the change that tells of it, and the name of its session. */
export type EndedTurn = { changeId: number; turn: TurnRow; name: string };
/** A turn that runs or is queued. */
export type OngoingTurn = Pick<TurnRow, "id" | "sessionId" | "owner" | "status" | "startedAt" | "spokeAt"> & {
  name: string;
  /** A request of its session needs approval. */
  isAsking: boolean;
};

export type AwaitedQuery = {
  ended: EndedQuery;
  /** Approvals that are not wanted. */
  skip: string[];
  maxPending: number;
  maxOngoing: number;
  /** A claude that is started by hand may ask if it was seen since then. */
  seenSince: number;
};
/** What somebody who waits is told of, as of one moment. */
export type Awaited = {
  newestId: number;
  pending: ApprovalPage;
  /** In the order of their ends. */
  ended: EndedTurn[];
  /** In the order of their beginning. */
  ongoing: OngoingTurn[];
  /** Something is pending, `skip` or not, or a claude that was started by hand lives. */
  mayAsk: boolean;
};

/** Changes have one order for all servers: once one was read, none of a lower number appears. */
export type ChangeStorage = {
  newestId(): Promise<number>;
  oldestAt(): Promise<number | undefined>;
  /** In order, beginning after `cursor`; of one owner, or of all. */
  listAfter(cursor: number, owner: string | undefined, limit: number): Promise<Change[]>;
  /** The turns that ended, in order, but for those that are no longer on record. */
  ended(scope: ApprovalScope, query: EndedQuery): Promise<EndedTurn[]>;
  awaited(scope: ApprovalScope, query: AwaitedQuery): Promise<Awaited>;

  /** Forgets those before `before` among the `limit` first; returns how many. */
  removeBefore(before: number, limit: number): Promise<number>;
};

/** How far each webhook has been told. */
export type WebhookPosition = { id: string; position: number };

export type WebhookStorage = {
  positions(): Promise<WebhookPosition[]>;

  setPosition(webhook: WebhookPosition): Promise<void>;
  /** Forgets all others. */
  replaceAll(webhooks: WebhookPosition[]): Promise<void>;
};
