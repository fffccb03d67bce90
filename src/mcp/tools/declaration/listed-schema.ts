import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../contract/values.ts";

/** Bounds that no normal call reaches. Every call is checked against them anyway, and the refusal names the mistake. */
const UNLISTED = [
  "$schema",
  "additionalProperties",
  "pattern",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
];
const MAX_LISTED_BOUND = 1_000;
/** Descriptions that only repeat the name of the argument or tool. The docs contain them. */
const SELF_EVIDENT: readonly unknown[] = [
  "",
  "The session's name.",
  "The session's id.",
  "The approval to decide.",
  "The approval to read.",
  "What it should do.",
  "The session to fork.",
  "The name of the new one.",
  "The tool to use.",
  "Its arguments.",
  "The call's id.",
  "The session that asks.",
  "Only this session.",
  "As in loopback_wait.",
  "As in claudecode_create.",
  "For a new session; must not be in use.",
];

/**
 * The arguments of a tool in as few tokens as a model needs: every parent pays for them in each of its turns. Optional
 * arguments also accept `null`, but the list omits that because some clients can't read it.
 */
export function listedInput(input: z.ZodType): JsonObject {
  const whole = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const { properties, ...schema } = Object(shortened(whole));
  return {
    ...schema,
    ...(isJsonObject(properties) && { properties: withoutItems(properties) }),
    ...(whole.additionalProperties === false && { additionalProperties: false }),
  };
}

/** Shortens lists of objects: the description of the argument says where their keys are listed. */
function withoutItems(properties: JsonObject): JsonObject {
  const hasKeys = ({ items }: JsonObject) => isJsonObject(items) && isJsonObject(items["properties"]);
  const listed = Object.entries(properties).map(([name, schema]) => {
    const shown = isJsonObject(schema) && hasKeys(schema) ? { ...schema, items: { type: "object" } } : schema;
    return [name, shown];
  });
  return Object.fromEntries(listed);
}

/** The common part of answers and refusals. Whole schemas would need more tokens than everything else. */
export const LISTED_ANSWER = { type: "object", required: ["type"] };

function shortened(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { anyOf, oneOf, properties, items, description, ...rest } = schema;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key, value]) => isListed(key, value)));
  return {
    ...kept,
    ...withoutNull(schema["type"]),
    ...(Array.isArray(anyOf) && choice("anyOf", anyOf)),
    ...(Array.isArray(oneOf) && choice("oneOf", oneOf)),
    ...(isJsonObject(properties) && { properties: mapped(properties) }),
    ...(items !== undefined && { items: shortened(items) }),
    ...(description !== undefined && !SELF_EVIDENT.includes(description) && { description }),
  };
}

function isListed(key: string, value: unknown): boolean {
  return !UNLISTED.includes(key) && !(typeof value === "number" && value > MAX_LISTED_BOUND);
}

function withoutNull(type: unknown): JsonObject {
  if (!Array.isArray(type)) return {};
  const [only, ...others] = type.filter((one) => one !== "null");
  return { type: others.length === 0 ? only : [only, ...others] };
}

/** The forms of an argument; `null` is left out, and a single remaining form stands alone. */
function choice(keyword: "anyOf" | "oneOf", forms: unknown[]): JsonObject {
  const [only, ...others] = forms.filter((form) => !isJsonObject(form) || form["type"] !== "null").map(shortened);
  return others.length === 0 ? Object(only) : { [keyword]: [only, ...others] };
}

function mapped(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, shortened(schema)]));
}
