import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { App, Principal } from "../../app.ts";
import { isJsonObject } from "../../contract/values.ts";
import { MAX_UNREAD } from "../clients/client-session.ts";
import { PENDING_URI } from "../service.ts";

/** What it uses of the app. */
export type ListenApp = Pick<App, "eventFeed">;

type Listening = Disposable & {
  /** What it answers has no end by itself. */
  isSubscription: boolean;
  /** The request, asking for nothing that there is not. */
  body: unknown;
  /** To be called when the client has read from its stream. */
  onTaken: () => void;
};

/**
 * Where a request is a subscription, publishes to it what its caller may know, until disposed. A client that has stopped
 * reading is dropped, and may listen again: what it reads then is the truth.
 */
export async function listenFor(
  { eventFeed }: ListenApp,
  principal: Principal,
  { notify }: McpHttpHandler,
  body: unknown,
  drop: () => void,
): Promise<Listening> {
  const subscription = subscriptionIn(body);
  if (!subscription) return { isSubscription: false, body, onTaken: () => {}, [Symbol.dispose]: () => {} };
  let unread = 0;
  const listening = await eventFeed.onRequest(principal, () => {
    if (++unread > MAX_UNREAD) drop();
    else notify.resourceUpdated(PENDING_URI);
  });
  const onTaken = () => {
    unread = 0;
  };
  return { isSubscription: true, body: subscription, onTaken, [Symbol.dispose]: () => listening[Symbol.dispose]() };
}

/** A `subscriptions/listen` with those of its resources that there are: the SDK agrees to any, and keeps their names. */
function subscriptionIn(body: unknown): unknown {
  if (!isJsonObject(body) || body["method"] !== "subscriptions/listen") return undefined;
  const params = isJsonObject(body["params"]) ? body["params"] : {};
  const { notifications } = params;
  if (!isJsonObject(notifications) || !Array.isArray(notifications["resourceSubscriptions"])) return body;
  const resourceSubscriptions = notifications["resourceSubscriptions"].includes(PENDING_URI) ? [PENDING_URI] : [];
  return { ...body, params: { ...params, notifications: { ...notifications, resourceSubscriptions } } };
}
