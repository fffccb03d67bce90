import type { App } from "../../app.ts";
import { getPush, subscribePush, testPush, unsubscribePush } from "../../contract/routes/push.ts";
import { ASKED_AT } from "../../contract/samples.ts";
import { type Served, serve } from "../serve.ts";

export type PushApp = Pick<App, "push">;

const DELIVERED = { outcome: "delivered", status: 201, failure: null } as const;
const SUBSCRIPTION = {
  id: "01a1e2f0-3c40-7d51-9e0b-52b7c0d4f8a1",
  is_own: true,
  name: "operator",
  host: "updates.push.services.mozilla.com",
  after_secs: 0,
  created_at: ASKED_AT - 3600,
  ends_at: ASKED_AT + 2_588_400,
  last: { ...DELIVERED, at: ASKED_AT, is_test: false },
};
const PUBLIC_KEY = `B${"A".repeat(86)}`;

export function pushRoutes({ push }: PushApp): Served[] {
  return [
    serve(getPush, {
      tag: "Push",
      summary: "Whether there is push, and which browsers are told",
      details: "The operator sees all of them, everybody else their own. Endpoints are secrets, and not shown.",
      answer: {
        says: "The key to subscribe with, and the browsers.",
        example: { type: "ok", public_key: PUBLIC_KEY, subscriptions: [SUBSCRIPTION] },
      },
    }).by(({ principal, caller }) => push.status(principal, caller.holder.page?.id)),
    serve(subscribePush, {
      tag: "Push",
      summary: "Tells the browser of the calling page of requests from now on",
      details:
        "Until the page is signed out, for 30 days at most. A page has one browser, and a browser one subscription. Only for pages.",
      body: {
        endpoint: "ENDPOINT",
        keys: { p256dh: PUBLIC_KEY, auth: "A".repeat(22) },
        after_secs: 30,
      },
      answer: { says: "It is told.", example: { type: "ok", subscription: SUBSCRIPTION } },
    }).by(async ({ principal, caller, body }) => ({
      type: "ok",
      subscription: await push.subscribe(principal, caller.holder.page?.id, body),
    })),
    serve(unsubscribePush, {
      tag: "Push",
      summary: "Tells a browser no more",
      params: { id: "The subscription's id in the list" },
      answer: { says: "It is forgotten.", example: { type: "removed", id: SUBSCRIPTION.id } },
      errors: ["not_found"],
    }).by(async ({ principal, params }) => {
      await push.unsubscribe(principal, params.id);
      return { type: "removed", id: params.id };
    }),
    serve(testPush, {
      tag: "Push",
      summary: "Sends a test message to a browser, once",
      params: { id: "The subscription's id in the list" },
      answer: { says: "What its push service answered.", example: { type: "ok", ...DELIVERED } },
      errors: ["not_found"],
    }).by(async ({ principal, params }) => ({ type: "ok", ...(await push.test(principal, params.id)) })),
  ];
}
