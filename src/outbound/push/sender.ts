import type { Approval } from "../../contract/approvals/approval.ts";
import type { PushMessage } from "../../contract/push.ts";
import type { PushSubscriptionStatus } from "../../contract/routes/push.ts";
import type { Delivery, DeliveryOutcome } from "../../contract/routes/webhooks.ts";
import { seconds } from "../../contract/values.ts";
import { WEB_TOKEN_MS } from "../../core/access/tokens.ts";
import { toApproval } from "../../core/approvals/approval-view.ts";
import { createBell } from "../../core/events/bell.ts";
import type { Broadcast } from "../../core/events/broadcast.ts";
import type { LivePushSubscription, UntoldRequest } from "../../storage/push.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Posted } from "../posted.ts";
import { requestMessage, requestsMessage } from "./message.ts";

const MAX_RETRY_MS = 5 * 60_000;
const MAX_REFUSALS = 5;
/** More are told as so many. */
const MOST_UNTOLD = 100;
/** Timers count on, and the clock may be set: so often it is compared. */
const MAX_PAUSE_MS = 60_000;
/** A post that is under way when we stop would otherwise be sent again by the next server. */
const STOP_WITHIN_MS = 2_000;

/** How long a push service keeps a message for a browser that is away, and what takes the place of what. */
export type PushNeed = { ttlSecs: number; topic: string };
/** Posts a message to a browser, encrypted and signed. */
export type PostPush = (
  subscription: LivePushSubscription,
  message: PushMessage,
  need: PushNeed,
  signal: AbortSignal,
) => Promise<Posted>;

/** What became of attempts, and of what was given up. */
export type PushCounts = Record<DeliveryOutcome | "dropped", number>;

type Standing = {
  isBusy: boolean;
  /** Nothing more is sent before then. */
  notBefore: number;
  failures: number;
  refusals: number;
  last: PushSubscriptionStatus["last"];
};

type SenderNeed = {
  storage: Pick<Storage, "approvals" | "push">;
  broadcast: Broadcast;
  now: () => number;
  post: PostPush;
  dangersIn: (approval: Approval) => Promise<number>;
  /** After the first failure; each further one doubles it. */
  firstRetryMs: number;
  /** Between two messages to one browser: what comes meanwhile is told together. */
  spacingMs: number;
  report: (message: string, fields: Record<string, unknown>) => void;
};

export type PushSender = ReturnType<typeof openPushSender>;

/**
 * Tells each browser of the requests that wait for somebody, from those that are pending in the database: one that was
 * decided meanwhile is never told, one that could not be told is told later, and a restart forgets none.
 */
export function openPushSender(need: SenderNeed) {
  const { storage, broadcast, now, report } = need;
  const counts: PushCounts = { delivered: 0, failed: 0, refused: 0, gone: 0, dropped: 0 };
  const standings = new Map<string, Standing>();
  const sending = new Set<Promise<void>>();
  const bell = createBell();
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const listening = broadcast.listen(({ kind }) => {
    if (kind === "approval_requested") bell.ring();
  });

  function standingOf(id: string): Standing {
    const known = standings.get(id) ?? { isBusy: false, notBefore: 0, failures: 0, refusals: 0, last: null };
    standings.set(id, known);
    return known;
  }

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) await wakeAt(await lookAtAll());
  }

  /** Returns when to look again, where nobody rings before. */
  async function lookAtAll(): Promise<number> {
    try {
      const living = await storage.push.list(now() - WEB_TOKEN_MS);
      for (const id of standings.keys()) if (!living.some((one) => one.id === id)) standings.delete(id);
      const times = await Promise.all(living.map(lookAt));
      return Math.min(Number.POSITIVE_INFINITY, ...times);
    } catch (cause) {
      report("browsers could not be told by push", { error: String(cause) });
      return now() + need.firstRetryMs;
    }
  }

  async function lookAt(subscription: LivePushSubscription): Promise<number> {
    const standing = standingOf(subscription.id);
    if (standing.isBusy) return Number.POSITIVE_INFINITY;
    const untold = await storage.push.untold(subscription, MOST_UNTOLD);
    const due = untold.filter(({ createdAt }) => createdAt + subscription.afterMs <= now());
    if (due.length === 0) return Math.min(Number.POSITIVE_INFINITY, ...untold.map(dueAfter(subscription.afterMs)));
    if (standing.notBefore > now()) return standing.notBefore;
    standing.isBusy = true;
    const sent = tell(subscription, standing, due)
      .catch((cause) => {
        report("a browser could not be told by push", { host: hostOf(subscription), error: String(cause) });
        standing.notBefore = now() + need.firstRetryMs;
      })
      .finally(() => {
        sending.delete(sent);
        standing.isBusy = false;
        bell.ring();
      });
    sending.add(sent);
    return Number.POSITIVE_INFINITY;
  }

  async function tell(subscription: LivePushSubscription, standing: Standing, due: UntoldRequest[]): Promise<void> {
    const [first, last] = [due[0], due.at(-1)];
    const row = first && (await storage.approvals.get(first.id));
    // Decided meanwhile: the next look finds what is left.
    if (!row || !last || row.status !== "pending") return;
    const ttlSecs = Math.max(0, seconds(row.expiresAt) - seconds(now()));
    const message =
      due.length > 1
        ? requestsMessage(due.length)
        : requestMessage({ ...row, expiresInSecs: ttlSecs, dangers: await need.dangersIn(toApproval(row)) });
    const posted = await need.post(subscription, message, { ttlSecs, topic: "requests" }, cutOff.signal);
    if (cutOff.signal.aborted) return;
    await take(subscription, standing, posted, last.id);
  }

  /** What an answer means for what is told next. */
  async function take(
    subscription: LivePushSubscription,
    standing: Standing,
    { delivery, notBeforeMs }: Posted,
    toldId: string,
  ): Promise<void> {
    const { id, endpoint } = subscription;
    counts[delivery.outcome]++;
    note(id, delivery, false);
    switch (delivery.outcome) {
      case "delivered":
        Object.assign(standing, { failures: 0, refusals: 0, notBefore: now() + need.spacingMs });
        return storage.push.setTold(id, toldId);
      case "gone":
        report("a browser takes no push any more, and is forgotten", { host: hostOf(subscription) });
        await storage.push.remove(id, endpoint);
        return;
      case "refused":
        if (++standing.refusals < MAX_REFUSALS) break;
        counts.dropped++;
        report("a browser was not told of requests: its push service refused", { host: hostOf(subscription) });
        standing.refusals = 0;
        return storage.push.setTold(id, toldId);
      case "failed":
        if (standing.failures === 0)
          report("a push service does not take messages: trying again", { host: hostOf(subscription) });
    }
    standing.notBefore = now() + Math.max(backOff(standing.failures++), Math.min(notBeforeMs, MAX_RETRY_MS));
  }

  /** Between half of it and all, so that browsers of one service are not told again together. */
  function backOff(failures: number): number {
    return Math.min(need.firstRetryMs * 2 ** failures, MAX_RETRY_MS) * (0.5 + Math.random() / 2);
  }

  function note(id: string, delivery: Delivery, is_test: boolean): void {
    standingOf(id).last = { ...delivery, at: seconds(now()), is_test };
  }

  async function wakeAt(at: number): Promise<void> {
    const pause = Math.min(Math.max(at - now(), 0), MAX_PAUSE_MS);
    const timer = at === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => bell.ring(), pause);
    await bell.woken();
    clearTimeout(timer);
  }

  const following = follow();
  return {
    counts,
    /** There is one more, or it wants to be told otherwise. */
    look: (): void => bell.ring(),
    lastOf: (id: string): Standing["last"] => standings.get(id)?.last ?? null,
    /** Posts at once, apart from what is still to be told. */
    async send(subscription: LivePushSubscription, message: PushMessage): Promise<Delivery> {
      const { delivery } = await need.post(subscription, message, { ttlSecs: 60, topic: "test" }, cutOff.signal);
      note(subscription.id, delivery, true);
      return delivery;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      listening[Symbol.dispose]();
      bell.ring();
      const timer = setTimeout(() => cutOff.abort(), STOP_WITHIN_MS);
      await following;
      await Promise.all(sending);
      clearTimeout(timer);
    },
  };
}

function dueAfter(afterMs: number): (request: UntoldRequest) => number {
  return ({ createdAt }) => createdAt + afterMs;
}

/** The rest of an endpoint is a secret. */
export function hostOf({ endpoint }: Pick<LivePushSubscription, "endpoint">): string {
  return new URL(endpoint).host;
}
