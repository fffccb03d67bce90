import type { Approval } from "../../contract/approvals/approval.ts";
import type { PushSubscriptionBody } from "../../contract/push.ts";
import { AppError, tokenRevoked } from "../../contract/refusals/errors.ts";
import type { PushStatus, PushSubscriptionStatus } from "../../contract/routes/push.ts";
import type { Delivery } from "../../contract/routes/webhooks.ts";
import { seconds } from "../../contract/values.ts";
import { ownerName } from "../../core/access/owner-name.ts";
import { type Principal, visibleOwner } from "../../core/access/principals.ts";
import { WEB_TOKEN_MS } from "../../core/access/tokens.ts";
import type { Broadcast } from "../../core/events/broadcast.ts";
import type { LivePushSubscription } from "../../storage/push.ts";
import type { Storage } from "../../storage/storage.ts";
import { type BrowserKeys, encrypted } from "./encryption.ts";
import type { Endpoints } from "./endpoints.ts";
import { testMessage } from "./message.ts";
import { hostOf, openPushSender, type PostPush, type PushCounts } from "./sender.ts";
import { senderKey } from "./sender-key.ts";

/** The length of every message. */
const MESSAGE_BYTES = 1_024;

/** The counts without push. */
const NONE_SENT: PushCounts = { delivered: 0, failed: 0, refused: 0, gone: 0, dropped: 0 };

export type Push = ReturnType<typeof openPush>;

type PushNeed = {
  storage: Pick<Storage, "approvals" | "newId" | "push" | "tokens">;
  broadcast: Broadcast;
  now: () => number;
  /** The contact by which push services can reach the operator. Without it there is no push. */
  contact: string | undefined;
  /** The secret from which the sender's key is derived. Called only with push. */
  key: () => string;
  endpoints: Endpoints;
  dangersIn: (approval: Approval) => Promise<number>;
  firstRetryMs: number;
  spacingMs: number;
  report: (message: string, fields: Record<string, unknown>) => void;
};

/** Notifies browsers of requests through their push services, even while no page is open. */
export function openPush(need: PushNeed) {
  const { storage, now, contact, endpoints } = need;
  const key = contact === undefined ? undefined : senderKey(need.key());
  const post: PostPush = ({ endpoint, p256dh, auth }, message, { ttlSecs, topic }, signal) => {
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Encoding": "aes128gcm",
      "User-Agent": "plexus",
      TTL: String(ttlSecs),
      Topic: topic,
      Urgency: "high",
      Authorization: key?.authorization(endpoint, contact ?? "", seconds(now())) ?? "",
    };
    const body = encrypted(JSON.stringify(message), { p256dh, auth }, MESSAGE_BYTES);
    return endpoints.post({ endpoint, headers, body, signal });
  };
  const sender = key && openPushSender({ ...need, post });

  const living = () => storage.push.list(now() - WEB_TOKEN_MS);
  /** The subscriptions that this caller may see. */
  async function visible(principal: Principal): Promise<LivePushSubscription[]> {
    const owner = visibleOwner(principal);
    return (await living()).filter((one) => owner === undefined || one.owner === owner);
  }

  async function toStatus(one: LivePushSubscription, page: string | undefined): Promise<PushSubscriptionStatus> {
    return {
      id: one.id,
      is_own: one.tokenId === page,
      name: await ownerName(storage, one.owner ?? "operator"),
      host: hostOf(one),
      after_secs: seconds(one.afterMs),
      created_at: seconds(one.createdAt),
      ends_at: seconds(one.signedInAt + WEB_TOKEN_MS),
      last: sender?.lastOf(one.id) ?? null,
    };
  }

  async function found(principal: Principal, id: string): Promise<LivePushSubscription> {
    const one = (await visible(principal)).find((subscription) => subscription.id === id);
    if (!one) throw new AppError("not_found", "There is no such subscription: its page may have signed out.");
    return one;
  }

  /** Refuses keys that can't be used for encryption. */
  function checkKeys(keys: BrowserKeys): void {
    try {
      encrypted("", keys, 0);
    } catch (cause) {
      throw new AppError("invalid_arguments", "keys.p256dh must be a point of P-256.", { cause });
    }
  }

  return {
    counts: sender?.counts ?? NONE_SENT,
    count: async (): Promise<number> => (await living()).length,

    /** The data that a browser needs to subscribe, with the present subscriptions. */
    async status(principal: Principal, page: string | undefined): Promise<PushStatus> {
      const subscriptions = await Promise.all((await visible(principal)).map((one) => toStatus(one, page)));
      return { type: "ok", public_key: key?.publicKey ?? null, subscriptions };
    },

    /** Subscribes this page's browser for as long as the page is signed in. */
    async subscribe(
      principal: Principal,
      page: string | undefined,
      { endpoint, keys, after_secs = 0 }: PushSubscriptionBody,
    ): Promise<PushSubscriptionStatus> {
      if (!sender)
        throw new AppError("forbidden", "Push is not set up here: the operator starts the server with --push CONTACT.");
      if (page === undefined)
        throw new AppError(
          "forbidden",
          "Only a page that was signed in by a code gets pushes: `plexus open` makes one.",
        );
      const problem = endpoints.problemOf(endpoint);
      if (problem !== undefined) throw new AppError("invalid_arguments", `endpoint ${problem}.`);
      checkKeys(keys);
      const id = storage.newId();
      const afterMs = after_secs * 1000;
      const saved = { id, tokenId: page, endpoint, ...keys, afterMs, createdAt: now(), toldId: id };
      if (!(await storage.push.save(saved))) throw tokenRevoked();
      sender.look();
      const own = (await visible(principal)).find(({ tokenId }) => tokenId === page);
      if (!own) throw tokenRevoked();
      return toStatus(own, page);
    },

    async unsubscribe(principal: Principal, id: string): Promise<void> {
      await storage.push.remove((await found(principal, id)).id);
    },

    /** Sends one test message. */
    async test(principal: Principal, id: string): Promise<Delivery> {
      const one = await found(principal, id);
      if (!sender) throw new AppError("forbidden", "Push is not set up here.");
      return sender.send(one, testMessage());
    },

    async [Symbol.asyncDispose]() {
      await sender?.[Symbol.asyncDispose]();
    },
  };
}
