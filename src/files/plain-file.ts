import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { type Found, idOf } from "./real-path.ts";

export type PlainFile =
  | { state: "read"; bytes: Buffer; hardLinks: number }
  | { state: "absent" }
  /** The reason is a verb phrase that follows "it". */
  | { state: "refused"; reason: string };

/** NOFOLLOW: a link that replaces the file is not followed. NONBLOCK: opening a pipe does not wait for its writer. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Reads a file that a repository or a child may have made, and that `follow` has found. Refuses it if another file has
 * replaced it since. Waits only for the file system, and never throws.
 */
export function readPlainFile(found: Found | undefined, maxBytes: number): PlainFile {
  if (!found) return refused("leads through a link that can't be followed, or into /proc, /dev or /sys");
  if (found.kind === "missing") return { state: "absent" };
  if (found.kind !== "file") return refused("is not a regular file");
  try {
    const fd = openSync(found.real, FLAGS);
    try {
      return readOpened(fd, found, maxBytes);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    return code === "ENOENT" || code === "ENOTDIR"
      ? { state: "absent" }
      : refused(`can't be read (${String(code ?? cause)})`);
  }
}

function readOpened(fd: number, found: Found, maxBytes: number): PlainFile {
  const opened = fstatSync(fd, { bigint: true });
  if (!opened.isFile() || idOf(opened) !== found.ids.at(-1) || !isOpenedAt(fd, found.real))
    return refused("changes while it is being read");
  if (opened.size > maxBytes) return refused(`has ${opened.size} bytes, more than ${maxBytes}`);
  const bytes = readAtMost(fd, maxBytes + 1);
  return bytes.length > maxBytes
    ? refused(`has more than ${maxBytes} bytes`)
    : { state: "read", bytes, hardLinks: Number(opened.nlink) };
}

/** Whether the opened file is still at this path, with no directory swapped for a link; only Linux can tell. */
function isOpenedAt(fd: number, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return true;
  }
}

/** Reads without trusting the reported size: some files report 0 and have no end. */
function readAtMost(fd: number, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(maxBytes);
  let length = 0;
  for (let read = -1; read !== 0 && length < maxBytes; length += read) {
    read = readSync(fd, bytes, length, maxBytes - length, null);
  }
  return bytes.subarray(0, length);
}

function refused(reason: string): PlainFile {
  return { state: "refused", reason };
}
