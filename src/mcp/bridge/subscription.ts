import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import type { RpcRequest } from "./call.ts";

const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** A subscription as its client sees it: a single one, even if the bridge makes it with several servers in turn. */
type Subscription = {
  /** The messages for the client that result from one of the server's. */
  passed(message: JsonObject): JsonObject[];
  /** Whether a server ended the subscription while there was more to report. */
  isCutShort(): boolean;
};

/** `undefined` if the request is no subscription. */
export function createSubscription({ id, method }: RpcRequest): Subscription | undefined {
  if (method !== "subscriptions/listen") return undefined;
  let promised: JsonObject | undefined;
  let isEnded = false;
  const isHeld = () => promised !== undefined && Object.keys(promised).length > 0;

  /** Tells the client to read its resources again, because events may have been missed. */
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
