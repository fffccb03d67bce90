import {
  InitializeRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../schema/values.ts";

/** More than any client has; what one could pile up otherwise are subscriptions to nothing. */
const MAX_MESSAGES = 100;

const SETUP_SCHEMAS = [
  InitializeRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
];

/** Whether a message changes how its client is served from then on. */
export function changesSetup(message: unknown): message is JsonObject {
  return isJsonObject(message) && SETUP_SCHEMAS.some((schema) => schema.safeParse(message).success);
}

/** The messages that bring a new server to where this one is after `message`: the newest of each kind. */
export function setupAfter(setup: JsonObject[], message: JsonObject): JsonObject[] {
  const unsubscribed = UnsubscribeRequestSchema.safeParse(message).success;
  const replaced = subject(unsubscribed ? { ...message, method: "resources/subscribe" } : message);
  const others = setup.filter((earlier) => subject(earlier) !== replaced);
  if (unsubscribed || others.length >= MAX_MESSAGES) return others;
  return [...others, message];
}

/** What a message sets: the level, or the subscription to one resource. */
function subject({ method, params }: JsonObject): string {
  return JSON.stringify([method, isJsonObject(params) ? params["uri"] : undefined]);
}
