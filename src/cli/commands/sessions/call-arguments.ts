import { UsageError } from "../../../config.ts";
import { isJsonObject, type JsonObject } from "../../../contract/values.ts";

const PAIR = /^([A-Za-z_][\w-]*)=(.*)$/s;

/** Whether a tool's arguments are given as `key=value` words instead of one JSON object. */
export function arePairs(words: readonly string[]): boolean {
  const [first = "-"] = words;
  return words.length > 1 || (first !== "-" && !first.trimStart().startsWith("{") && PAIR.test(first));
}

/**
 * Reads `key=value` words by the tool's input schema: an argument of type string is taken as it is typed, any other as
 * JSON, or as text if it is no JSON. A key that is repeated makes a list.
 */
export function argumentsIn(words: readonly string[], schema: JsonObject | undefined): JsonObject {
  const properties = isJsonObject(schema?.["properties"]) ? schema["properties"] : {};
  const given = new Map<string, unknown[]>();
  for (const word of words) {
    const [, key, text = ""] = PAIR.exec(word) ?? [];
    if (key === undefined)
      throw new UsageError(`${JSON.stringify(word)} is neither key=value nor the only argument, a JSON object.`);
    given.set(key, [...(given.get(key) ?? []), argumentOf(text, propertyOf(properties, key))]);
  }
  return Object.fromEntries([...given].map(([key, values]) => [key, joined(key, values, propertyOf(properties, key))]));
}

function propertyOf(properties: JsonObject, key: string): JsonObject | undefined {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isJsonObject(property) ? property : undefined;
}

function argumentOf(text: string, schema: JsonObject | undefined): unknown {
  const isText = schema?.["type"] === "string";
  const items = schema?.["items"];
  // One word of a list of texts. A whole list is given as JSON.
  const isItem = isJsonObject(items) && items["type"] === "string" && !text.trimStart().startsWith("[");
  return isText || isItem ? text : parsed(text);
}

function joined(key: string, values: unknown[], schema: JsonObject | undefined): unknown {
  const [first] = values;
  const isList = schema?.["type"] === "array";
  if (values.length > 1 && schema && !isList) throw new UsageError(`${key} is given twice.`);
  return values.length > 1 || (isList && !Array.isArray(first)) ? values.flat() : first;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
