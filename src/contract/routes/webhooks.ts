import { z } from "zod";
import { LinkVerdict } from "../link.ts";
import { Id, UnixSeconds } from "../values.ts";
import { ToldKind, WebhookFormat } from "../webhook.ts";
import { route } from "./declaration/route.ts";

/** How an attempt went: `failed` may pass by itself, `refused` hardly will, and `gone` says to stop. */
export const DeliveryOutcome = z.enum(["delivered", "failed", "refused", "gone"]);
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>;

/** Why there was no answer. */
export const DeliveryFailure = z.enum(["timeout", "unknown_host", "refused", "certificate", "connection"]);
export type DeliveryFailure = z.infer<typeof DeliveryFailure>;

/** What became of one attempt to post. */
export const Delivery = z.strictObject({
  outcome: DeliveryOutcome,
  /** The status of the answer; null where there was none. */
  status: z.int().nullable(),
  failure: DeliveryFailure.nullable(),
});
export type Delivery = z.infer<typeof Delivery>;

/** A webhook as it is configured, without its address, which is a secret but for the host. */
export const WebhookStatus = z.strictObject({
  /** Until the next start of the server. */
  id: Id,
  name: z.string(),
  host: z.string(),
  format: WebhookFormat,
  events: z.array(ToldKind),
  /** What the links in its messages may decide; null where they have none. */
  decide: LinkVerdict.nullable(),
  /** How many changes it has still to be told of, or passed over. */
  behind: z.int().nonnegative(),
  /** The last attempt since the server was started; null before the first. */
  last: Delivery.extend({ at: UnixSeconds, is_test: z.boolean() }).nullable(),
});
export type WebhookStatus = z.infer<typeof WebhookStatus>;

export const WebhookList = z.object({ type: z.literal("ok"), webhooks: z.array(WebhookStatus) });
export const WebhookTested = z.strictObject({ type: z.literal("ok"), ...Delivery.shape });

export const listWebhooks = route("GET", "/api/v1/webhooks", { answer: WebhookList });
export const testWebhook = route("POST", "/api/v1/webhooks/:id/test", { answer: WebhookTested });
