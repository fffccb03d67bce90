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
/** With more than this, the message only gives the number. */
const MOST_UNTOLD = 100;
/** Wake up at least this often to compare the time, because the clock may be set. */
const MAX_PAUSE_MS = 60_000;
/** How long a stopping server waits for posts under way: the next server would send them again. */
const STOP_WITHIN_MS = 2_000;

/** How long a push service keeps a message for a browser that is away, and which messages replace each other. */
export type PushDelivery = { ttlSecs: number; topic: string };
/** Encrypts and signs a message and posts it to a browser. */
export type PostPush = (
  subscription: LivePushSubscription,
  message: PushMessage,
  delivery: PushDelivery,
  signal: AbortSignal,
) => Promise<Posted>;

/** Numbers of attempts by outcome, and of requests that were given up. */
export type PushCounts = Record<DeliveryOutcome | "dropped", number>;

type Standing = {
  isBusy: boolean;
  /** Send nothing before this time. */
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
  /** The pause after the first failure; each further failure doubles it. */
  firstRetryMs: number;
  /** The shortest time between two messages to one browser. Requests in between share one message. */
  spacingMs: number;
  report: (message: string, fields: Record<string, unknown>) => void;
};

export type PushSender = ReturnType<typeof openPushSender>;

/**
 * Notifies each browser of pending requests, from the database. So it never reports a decided request, reports a missed
 * one later, and forgets none in a restart.
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

  /** Returns when to look again if the bell does not ring before. */
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
    // The request was decided meanwhile. The next look finds what is left.
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

  /** Updates the state of a subscription after an answer. */
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

  /** Jitter between half and all of the pause, so that browsers of one service are not retried together. */
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
    /** Call this when a subscription was added or changed. */
    look: (): void => bell.ring(),
    lastOf: (id: string): Standing["last"] => standings.get(id)?.last ?? null,
    /** Posts immediately, apart from pending notifications. */
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

/** The host for reports. The rest of an endpoint is a secret. */
export function hostOf({ endpoint }: Pick<LivePushSubscription, "endpoint">): string {
  return new URL(endpoint).host;
}
