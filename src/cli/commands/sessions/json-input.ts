import { UsageError } from "../../../config.ts";
import { JsonObject } from "../../../contract/values.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** The JSON object in an argument, or from standard input if the argument is `-`. */
export async function jsonInput(what: string, given: string, terminal: Terminal): Promise<JsonObject> {
  const text = given === "-" ? await terminal.input() : given;
  const parsed = JsonObject.safeParse(parsedJson(what, text));
  if (!parsed.success) throw new UsageError(`${what}: ${parsed.error.issues[0]?.message}.`);
  return parsed.data;
}

function parsedJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${what} is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
}
