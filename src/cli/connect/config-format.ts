import type { JsonObject } from "../../contract/values.ts";

/**
 * The file format of a client's settings. A change leaves everything else in the file as it was, including comments.
 */
export type ConfigFormat = {
  /** Our entry. Throws `Unreadable` if the file is not of this format. */
  entryIn(text: string): JsonObject | undefined;
  withEntry(text: string, entry: JsonObject): string;
  withoutEntry(text: string): string;
  /** The entry alone, as the content of a new file. */
  alone(entry: JsonObject): string;
};

/** The message continues a sentence that begins with the file's name. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** Keys that say how to reach a server, in any client. Old ones must not remain beside new ones. */
const TRANSPORT = [
  "type",
  "url",
  "httpUrl",
  "headers",
  "headersHelper",
  "http_headers",
  "bearer_token_env_var",
  "command",
  "args",
  "env",
];

/** The new entry, with everything that its user has added, such as a switch or a list of tools. */
export function updated(existing: JsonObject | undefined, entry: JsonObject): JsonObject {
  const kept = Object.entries(existing ?? {}).filter(([key]) => !TRANSPORT.includes(key));
  return { ...entry, ...Object.fromEntries(kept) };
}
