import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";

/** The same for equal requests whatever the order of their keys; the tool's name counts, or one tool's allow could run another. */
export function hashOf(toolName: string, input: JsonObject): string {
  return createHash("sha256")
    .update(JSON.stringify([toolName, sorted(input)]))
    .digest("hex");
}

/** Tells objects from arrays, so that no two different inputs look alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ["array", ...value.map(sorted)];
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return ["object", ...keys.map((key) => [key, sorted(value[key])])];
}
