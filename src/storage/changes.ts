import type { Change } from "../contract/change.ts";
import type { ApprovalPage, ApprovalScope } from "./approvals.ts";

export type AwaitedQuery = { since: number; maxPending: number; maxEnded: number };
/** What somebody who waits is told of, as of one moment. */
type AwaitedChanges = {
  newestId: number;
  pending: ApprovalPage;
  /** The turns that ended after `since`, in order. */
  ended: Change[];
};

export type ChangeStorage = {
  newestId(): Promise<number>;
  oldestAt(): Promise<number | undefined>;
  /** In order, beginning after `cursor`; of one owner, or of all. */
  listAfter(cursor: number, owner: string | undefined, limit: number): Promise<Change[]>;
  awaited(scope: ApprovalScope, query: AwaitedQuery): Promise<AwaitedChanges>;

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
