import type { App } from "../../app.ts";
import { listWebhooks, testWebhook } from "../../contract/routes/webhooks.ts";
import { ASKED_AT } from "../../contract/samples.ts";
import { operatorOnly } from "../middleware/auth.ts";
import { type Served, serve } from "../serve.ts";

export type WebhooksApp = Pick<App, "webhooks">;

const DELIVERED = { outcome: "delivered", status: 204, failure: null } as const;
const WEBHOOK_ID = "9b1f6c1e-4c57-4b6a-a9f0-7a1c5d0e2f11";

export function webhookRoutes({ webhooks }: WebhooksApp): Served[] {
  return [
    serve(listWebhooks, {
      tag: "Webhooks",
      summary: "Lists the webhooks as they are configured, and how each was last told of something",
      details: "Without their addresses, which are secrets. Only for the operator.",
      guards: [operatorOnly],
      answer: {
        says: "All of them.",
        example: {
          type: "ok",
          page_url: "PAGE_URL",
          webhooks: [
            {
              id: WEBHOOK_ID,
              name: "phone",
              host: "ntfy.sh",
              format: "ntfy",
              events: ["approval_requested", "unasked_call", "turn_ended"],
              decide: null,
              behind: 0,
              last: { ...DELIVERED, at: ASKED_AT, is_test: false },
            },
          ],
        },
      },
    }).by(async () => ({ type: "ok", page_url: webhooks.pageUrl(), webhooks: await webhooks.list() })),
    serve(testWebhook, {
      tag: "Webhooks",
      summary: "Sends a test message to a webhook, once",
      details: "Whatever comes of it, what the webhook has still to be told is told as before. Only for the operator.",
      params: { id: "The webhook's id in the list" },
      guards: [operatorOnly],
      answer: { says: "What the receiver answered.", example: { type: "ok", ...DELIVERED } },
      errors: ["not_found"],
    }).by(async ({ params }) => ({ type: "ok", ...(await webhooks.test(params.id)) })),
  ];
}
