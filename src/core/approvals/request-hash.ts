import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";

/**
 * Equal for equal requests, whatever the order of their keys. It includes the tool's name: else an allow for one tool
 * could run another.
 */
export function hashOf(toolName: string, input: JsonObject): string {
  return createHash("sha256")
    .update(JSON.stringify([toolName, sorted(input)]))
    .digest("hex");
}

/** Tags objects and arrays, so that no two different inputs serialize alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ["array", ...value.map(sorted)];
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return ["object", ...keys.map((key) => [key, sorted(value[key])])];
}
