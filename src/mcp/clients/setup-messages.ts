import { isJsonObject, type JsonObject } from "../../contract/values.ts";

/** More than any client has: they could be subscriptions to nothing. */
const MAX_SUBSCRIPTIONS = 10;
const SUBSCRIBE = "resources/subscribe";
const UNSUBSCRIBE = "resources/unsubscribe";

/** What changes how a client is served from then on. */
export const SETUP_METHODS = ["initialize", "logging/setLevel", SUBSCRIBE, UNSUBSCRIBE];

/** The messages that bring a new server to where this one is after `message`: the newest of each kind. */
export function setupAfter(setup: JsonObject[], message: JsonObject): JsonObject[] {
  const unsubscribed = message["method"] === UNSUBSCRIBE;
  const replaced = subject(unsubscribed ? { ...message, method: SUBSCRIBE } : message);
  const others = setup.filter((earlier) => subject(earlier) !== replaced);
  const isFull = others.filter(({ method }) => method === SUBSCRIBE).length >= MAX_SUBSCRIPTIONS;
  if (unsubscribed || (isFull && message["method"] === SUBSCRIBE)) return others;
  return [...others, message];
}

/** What a message sets: the level, or the subscription to one resource. */
function subject({ method, params }: JsonObject): string {
  return JSON.stringify([method, isJsonObject(params) ? params["uri"] : undefined]);
}
