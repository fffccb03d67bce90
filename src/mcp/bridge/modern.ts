import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { claimOf, PROTOCOL_VERSION } from "../revision.ts";

/** The parameter that names the target of a request, by method. */
const NAMED_BY: Record<string, string> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };
const VISIBLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/**
 * The headers of a message that states its own revision; over HTTP they repeat its content. `undefined` for a message
 * of an earlier revision, which belongs to a session.
 */
export function modernHeaders(message: JsonObject): Record<string, string> | undefined {
  const claim = claimOf(message);
  if (claim === undefined) return undefined;
  const method = String(message["method"]);
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  const name = Object.hasOwn(NAMED_BY, method) ? params[NAMED_BY[method] ?? ""] : undefined;
  return {
    // Values that no header can hold are left out; the server then reports the mistake.
    ...(typeof claim === "string" && VISIBLE.test(claim) && { [PROTOCOL_VERSION]: claim }),
    ...(VISIBLE.test(method) && { "mcp-method": method }),
    ...(typeof name === "string" && { "mcp-name": asHeader(name) }),
  };
}

function asHeader(text: string): string {
  if (VISIBLE.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
