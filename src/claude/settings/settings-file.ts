import { type PlainFile, readPlainFile } from "../../files/plain-file.ts";
import type { Found } from "../../files/real-path.ts";

/** Far more than anybody's settings have. */
const MAX_BYTES = 1024 * 1024;

/** What a settings file of Claude Code says; a file that is refused here the CLI may read nevertheless. */
export type SettingsFile = { state: "read"; settings: unknown } | Exclude<PlainFile, { state: "read" }>;

export function readSettings(found: Found | undefined): SettingsFile {
  const file = readPlainFile(found, MAX_BYTES);
  if (file.state !== "read") return file;
  try {
    return { state: "read", settings: JSON.parse(textOf(file.bytes)) };
  } catch {
    // What is no JSON is the CLI's to complain of.
    return { state: "absent" };
  }
}

/** As the CLI reads it: a byte order mark tells the encoding, and is taken away. */
function textOf(bytes: Buffer): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isWide ? "utf-16le" : "utf-8").decode(bytes);
}
