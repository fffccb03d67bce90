import type { JsonObject } from "../../contract/values.ts";

/** How a client's settings are written down; what a change is not about stays as it is, comments included. */
export type ConfigFormat = {
  /** Our entry; throws `Unreadable` for what is no such file. */
  entryIn(text: string): JsonObject | undefined;
  withEntry(text: string, entry: JsonObject): string;
  withoutEntry(text: string): string;
  /** The entry alone, as a new file would have it. */
  alone(entry: JsonObject): string;
};

/** The words go on after the file's name. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** What says how a server is reached, in any client; an old one must not stand beside a new one. */
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

/** The entry as it shall be, with what its user has added to it: a switch, a list of tools. */
export function updated(existing: JsonObject | undefined, entry: JsonObject): JsonObject {
  const kept = Object.entries(existing ?? {}).filter(([key]) => !TRANSPORT.includes(key));
  return { ...entry, ...Object.fromEntries(kept) };
}
