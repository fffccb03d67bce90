import {
  InitializeRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../schema/values.ts";

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
