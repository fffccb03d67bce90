import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import type { RpcRequest } from "./call.ts";

const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** A subscription as its client sees it: a single one, with however many servers it was made. */
type Subscription = {
  /** What the client is to be told, of what a server says. */
  passed(message: JsonObject): JsonObject[];
  /** Whether a server has ended it that had more to tell. */
  isCutShort(): boolean;
};

/** None, where the request is for something else. */
export function createSubscription({ id, method }: RpcRequest): Subscription | undefined {
  if (method !== "subscriptions/listen") return undefined;
  let promised: JsonObject | undefined;
  let isEnded = false;
  const isHeld = () => promised !== undefined && Object.keys(promised).length > 0;

  /** What has happened while nobody listened is not known: the client is to read again. */
  function caughtUp(): JsonObject[] {
    const uris = Array.isArray(promised?.["resourceSubscriptions"]) ? promised["resourceSubscriptions"] : [];
    return uris.map((uri) => ({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri, _meta: { [SUBSCRIPTION_ID]: id } },
    }));
  }

  return {
    passed(message) {
      if (message["method"] === "notifications/subscriptions/acknowledged") {
        const params = isJsonObject(message["params"]) ? message["params"] : {};
        const isFirst = promised === undefined;
        promised = isJsonObject(params["notifications"]) ? params["notifications"] : {};
        isEnded = false;
        return isFirst ? [message] : caughtUp();
      }
      isEnded = message["id"] === id && "result" in message;
      return isEnded && isHeld() ? [] : [message];
    },
    isCutShort: () => isEnded && isHeld(),
  };
}
