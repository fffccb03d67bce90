/** A browser that wants to be told of requests, through the push service that it has named. */
export type PushSubscriptionRow = {
  id: string;
  /** The page's token that it was made with, and ends with. */
  tokenId: string;
  /** Where the push service takes messages for it: whoever knows it could send some. */
  endpoint: string;
  /** The browser's public key, and what it has agreed on with whoever sends: base64url. */
  p256dh: string;
  auth: string;
  /** For so long others may decide first. */
  afterMs: number;
  createdAt: number;
  /** The newest request that it was told of, or that was passed over. */
  toldId: string;
};

/** With whom it acts for: the owner whose requests it is told of, or everybody's; and since when its page is signed in. */
export type LivePushSubscription = PushSubscriptionRow & { owner: string | undefined; signedInAt: number };

export type UntoldRequest = { id: string; createdAt: number };

export type PushStorage = {
  /** Those whose pages were signed in after `since`, the oldest first. */
  list(since: number): Promise<LivePushSubscription[]>;
  /** The requests that are pending and newer than what it was told of, oldest first. */
  untold(subscription: Pick<LivePushSubscription, "owner" | "toldId">, limit: number): Promise<UntoldRequest[]>;

  /**
   * Makes it the only one of its page and of its endpoint; one that had that endpoint before keeps its id and what it was
   * told. `undefined` when the page's token was revoked.
   */
  save(subscription: PushSubscriptionRow): Promise<PushSubscriptionRow | undefined>;
  /** It was told of the requests up to this one; never moves back. */
  setTold(id: string, toldId: string): Promise<void>;
  /** `false` when there was none. With `endpoint`, only while it still has that one. */
  remove(id: string, endpoint?: string): Promise<boolean>;
};
