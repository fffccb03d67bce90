import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { App, Principal } from "../../app.ts";
import { isJsonObject } from "../../contract/values.ts";
import { MAX_UNREAD } from "../clients/client-session.ts";
import { PENDING_URI } from "../service.ts";

/** The parts of the app that this function uses. */
export type ListenApp = Pick<App, "eventFeed">;

type Listening = Disposable & {
  /** Whether the answer is a subscription, which has no end. */
  isSubscription: boolean;
  /** The request without resources that do not exist. */
  body: unknown;
  /** Call this when the client has read from its stream. */
  onTaken: () => void;
};

/**
 * For a subscription, publishes everything that its caller may know, until disposed. A client that has stopped reading
 * is dropped. It may listen again, and then reads the present state.
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

/** The `subscriptions/listen` request with only the resources that exist: the SDK would accept and keep any names. */
function subscriptionIn(body: unknown): unknown {
  if (!isJsonObject(body) || body["method"] !== "subscriptions/listen") return undefined;
  const params = isJsonObject(body["params"]) ? body["params"] : {};
  const { notifications } = params;
  if (!isJsonObject(notifications) || !Array.isArray(notifications["resourceSubscriptions"])) return body;
  const resourceSubscriptions = notifications["resourceSubscriptions"].includes(PENDING_URI) ? [PENDING_URI] : [];
  return { ...body, params: { ...params, notifications: { ...notifications, resourceSubscriptions } } };
}
