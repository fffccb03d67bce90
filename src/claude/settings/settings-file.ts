import { type PlainFile, readPlainFile } from "../../files/plain-file.ts";
import type { Found } from "../../files/real-path.ts";

/** Far more than any real settings file has. */
const MAX_BYTES = 1024 * 1024;

/** The content of a Claude Code settings file; the CLI may read even a file that is refused here. */
type SettingsFile = { state: "read"; settings: unknown } | Exclude<PlainFile, { state: "read" }>;

export function readSettings(found: Found | undefined): SettingsFile {
  const file = readPlainFile(found, MAX_BYTES);
  if (file.state !== "read") return file;
  try {
    return { state: "read", settings: JSON.parse(textOf(file.bytes)) };
  } catch {
    // The CLI itself reports a file that is not JSON.
    return { state: "absent" };
  }
}

/** Decodes like the CLI: a byte order mark selects the encoding and is removed. */
function textOf(bytes: Buffer): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isWide ? "utf-16le" : "utf-8").decode(bytes);
}
