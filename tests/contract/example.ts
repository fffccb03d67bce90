import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../src/contract/values.ts";

const DIRECTORY = join(import.meta.dir, "examples");
const checked = new Set<string>();

/** What stands in an example for a value that differs from run to run. */
const PLACEHOLDERS: Record<string, (value: unknown) => boolean> = {
  "<id>": (value) => isText(value, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  "<time>": (value) => Number.isInteger(value) && Number(value) > 1_700_000_000 && Number(value) < 10_000_000_000,
  "<amount>": (value) => typeof value === "number" && value >= 0,
  "<count>": (value) => Number.isInteger(value) && Number(value) >= 0,
  "<text>": (value) => isText(value, /\S/),
  "<object>": isJsonObject,
  "<url>": (value) => isText(value, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
  "<bearer>": (value) => isText(value, /^Bearer plx_[\w-]+_[\w-]{43}$/),
};

/** Fails unless `actual` is what `examples/NAME.json` shows: the same keys, no others, nulls where it has nulls. */
export async function expectExample(actual: unknown, name: string): Promise<void> {
  checked.add(name);
  const example: unknown = await Bun.file(join(DIRECTORY, `${name}.json`)).json();
  expect(withPlaceholders(actual, example)).toStrictEqual(example);
}

/** The examples of a folder that no test has compared with anything. */
export function uncheckedExamples(folder = ""): string[] {
  const files = readdirSync(join(DIRECTORY, folder)).filter((file) => file.endsWith(".json"));
  return files.map((file) => join(folder, file.replace(/\.json$/, ""))).filter((name) => !checked.has(name));
}

function withPlaceholders(actual: unknown, example: unknown): unknown {
  if (typeof example === "string" && PLACEHOLDERS[example]?.(actual)) return example;
  if (Array.isArray(actual) && Array.isArray(example)) {
    return actual.map((item, index) => withPlaceholders(item, example[index]));
  }
  if (!isJsonObject(actual) || !isJsonObject(example)) return actual;
  return Object.fromEntries(Object.entries(actual).map(([key, value]) => [key, withPlaceholders(value, example[key])]));
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}
