import { z } from "zod";
import { PushSubscriptionBody } from "../push.ts";
import { Id, UnixSeconds } from "../values.ts";
import { route } from "./declaration/route.ts";
import { Delivery } from "./webhooks.ts";

/** A browser that is told by push; of its endpoint, which is a secret, only the host. */
export const PushSubscriptionStatus = z.strictObject({
  id: Id,
  /** Whether it was made with the token that asks. */
  is_own: z.boolean(),
  /** Who is signed in there. */
  name: z.string(),
  host: z.string(),
  after_secs: z.int().nonnegative(),
  created_at: UnixSeconds,
  /** When its page has to sign in again. */
  ends_at: UnixSeconds,
  /** The last attempt since the server was started; null before the first. */
  last: Delivery.extend({ at: UnixSeconds, is_test: z.boolean() }).nullable(),
});
export type PushSubscriptionStatus = z.infer<typeof PushSubscriptionStatus>;

export const PushStatus = z.strictObject({
  type: z.literal("ok"),
  /** With which a browser subscribes; null where the operator has not set push up. */
  public_key: z.string().nullable(),
  subscriptions: z.array(PushSubscriptionStatus),
});
export type PushStatus = z.infer<typeof PushStatus>;
export const PushSubscribed = z.strictObject({ type: z.literal("ok"), subscription: PushSubscriptionStatus });
export const PushUnsubscribed = z.strictObject({ type: z.literal("removed"), id: Id });
export const PushTested = z.strictObject({ type: z.literal("ok"), ...Delivery.shape });

export const getPush = route("GET", "/api/v1/push", { answer: PushStatus });
export const subscribePush = route("POST", "/api/v1/push", { body: PushSubscriptionBody, answer: PushSubscribed });
export const unsubscribePush = route("DELETE", "/api/v1/push/:id", { answer: PushUnsubscribed });
export const testPush = route("POST", "/api/v1/push/:id/test", { answer: PushTested });
