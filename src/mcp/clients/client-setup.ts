import {
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  SetLevelRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { isShallow, type JsonObject } from "../../contract/values.ts";

const MAX_TEXT_CHARS = 200;
const MAX_URI_CHARS = 500;
const MAX_CAPABILITIES_CHARS = 4_000;

const SetupRequest = z.union([
  InitializeRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
]);
type Initialize = z.infer<typeof InitializeRequestSchema>["params"];

/**
 * A message that changes how the server serves its client, without the parts that are not needed: a client then costs a
 * few kilobytes whatever it sends, such as icons. `undefined` for every other message.
 */
export function setupMessage(message: unknown): JsonObject | undefined {
  const { data } = SetupRequest.safeParse(message);
  if (!data) return undefined;
  const request = (params: JsonObject) => ({ jsonrpc: "2.0", id: 1, method: data.method, params });
  if (data.method === "initialize") return request(introduction(data.params));
  if (data.method === "logging/setLevel") return request({ level: data.params.level });
  const { uri } = data.params;
  return JSON.stringify(uri).length > MAX_URI_CHARS ? undefined : request({ uri });
}

/** The revision that the SDK agrees on with an introduced client: the requested one, or the newest. */
export function agreedRevision(setup: JsonObject[]): string | undefined {
  const { data } = InitializeRequestSchema.safeParse(setup.find(({ method }) => method === "initialize"));
  if (!data) return undefined;
  const { protocolVersion } = data.params;
  return SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
}

function introduction({ protocolVersion, capabilities, clientInfo }: Initialize): JsonObject {
  const { name, version, title } = clientInfo;
  return {
    protocolVersion: short(protocolVersion),
    capabilities: capabilitiesThatFit(capabilities),
    clientInfo: { name: short(name), version: short(version), ...(title !== undefined && { title: short(title) }) },
  };
}

/** Drops capabilities that need pages of text: Plexus uses none of them. */
function capabilitiesThatFit(capabilities: JsonObject): JsonObject {
  let room = MAX_CAPABILITIES_CHARS;
  const kept = Object.entries(capabilities).filter((entry) => {
    const chars = isShallow(entry) ? JSON.stringify(entry).length : Number.POSITIVE_INFINITY;
    if (chars > room) return false;
    room -= chars;
    return true;
  });
  return Object.fromEntries(kept);
}

/** Copies the text, because a slice would keep the whole string in memory. */
function short(text: string): string {
  return Buffer.from(text.slice(0, MAX_TEXT_CHARS)).toString();
}
