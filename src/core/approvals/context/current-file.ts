import type { CurrentFile } from "../../../contract/approvals/approval-context.ts";
import { readPlainFile } from "../../../files/plain-file.ts";
import { privateFiles } from "../../../files/private-files.ts";
import type { Found } from "../../../files/real-path.ts";

const MAX_BYTES = 1024 * 1024;

/** The current content of a file, or the reason why it can't be shown. Never throws. */
export function readCurrentFile(path: string, found: Found | undefined, privatePaths: string[]): CurrentFile {
  const unshown = (reason: string): CurrentFile => ({ state: "unshown", path, reason: `it ${reason}` });
  if (found?.kind === "missing") return { state: "absent", path };
  if (found && privateFiles(privatePaths).isPrivate(found))
    return unshown("holds settings or tokens that no child may reach");
  const file = readPlainFile(found, MAX_BYTES);
  if (file.state === "absent") return { state: "absent", path };
  if (file.state === "refused") return unshown(file.reason);
  return file.bytes.includes(0) ? unshown("is binary") : { state: "text", path, text: file.bytes.toString("utf8") };
}
