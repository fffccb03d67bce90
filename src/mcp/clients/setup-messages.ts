import { isJsonObject, type JsonObject } from "../../contract/values.ts";

/** More than any client needs: a client could subscribe to any number of made-up resources. */
const MAX_SUBSCRIPTIONS = 10;
const SUBSCRIBE = "resources/subscribe";
const UNSUBSCRIBE = "resources/unsubscribe";

/** The messages that change how the server serves a client. */
export const SETUP_METHODS = ["initialize", "logging/setLevel", SUBSCRIBE, UNSUBSCRIBE];

/** The messages that give a new server the same state as this one after `message`: the newest of each kind. */
export function setupAfter(setup: JsonObject[], message: JsonObject): JsonObject[] {
  const unsubscribed = message["method"] === UNSUBSCRIBE;
  const replaced = subject(unsubscribed ? { ...message, method: SUBSCRIBE } : message);
  const others = setup.filter((earlier) => subject(earlier) !== replaced);
  const isFull = others.filter(({ method }) => method === SUBSCRIBE).length >= MAX_SUBSCRIPTIONS;
  if (unsubscribed || (isFull && message["method"] === SUBSCRIBE)) return others;
  return [...others, message];
}

/** What a message sets: the log level, or the subscription to one resource. */
function subject({ method, params }: JsonObject): string {
  return JSON.stringify([method, isJsonObject(params) ? params["uri"] : undefined]);
}
