import { z } from "zod";
import { LinkVerdict } from "../link.ts";
import { Id, UnixSeconds } from "../values.ts";
import { ToldKind, WebhookFormat } from "../webhook.ts";
import { route } from "./declaration/route.ts";

/** The outcome of an attempt: `failed` may work later, `refused` hardly will, `gone` asks Plexus to stop. */
export const DeliveryOutcome = z.enum(["delivered", "failed", "refused", "gone"]);
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>;

/** The reason why there was no answer. */
export const DeliveryFailure = z.enum([
  "timeout",
  "unknown_host",
  "refused",
  "certificate",
  "private_address",
  "connection",
]);
export type DeliveryFailure = z.infer<typeof DeliveryFailure>;

/** The result of one attempt to post. */
export const Delivery = z.strictObject({
  outcome: DeliveryOutcome,
  /** The HTTP status of the answer; null if there was none. */
  status: z.int().nullable(),
  failure: DeliveryFailure.nullable(),
});
export type Delivery = z.infer<typeof Delivery>;

/** A configured webhook, without its URL, of which all but the host is secret. */
export const WebhookStatus = z.strictObject({
  /** Valid until the server restarts. */
  id: Id,
  name: z.string(),
  host: z.string(),
  format: WebhookFormat,
  events: z.array(ToldKind),
  /** What the links in its messages may decide; null if they contain none. */
  decide: LinkVerdict.nullable(),
  /** The number of changes not yet delivered or skipped. */
  behind: z.int().nonnegative(),
  /** The last attempt since the server's start; null if there was none. */
  last: Delivery.extend({ at: UnixSeconds, is_test: z.boolean() }).nullable(),
});
export type WebhookStatus = z.infer<typeof WebhookStatus>;

export const WebhookList = z.object({
  type: z.literal("ok"),
  /** Where the links in messages lead. */
  page_url: z.string(),
  webhooks: z.array(WebhookStatus),
});
export const WebhookTested = z.strictObject({ type: z.literal("ok"), ...Delivery.shape });

export const listWebhooks = route("GET", "/api/v1/webhooks", { answer: WebhookList });
export const testWebhook = route("POST", "/api/v1/webhooks/:id/test", { answer: WebhookTested });
