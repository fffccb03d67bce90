import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { type Found, idOf } from "./real-path.ts";

export type PlainFile =
  /** `names`: how many hard links the file has. */
  | { state: "read"; bytes: Buffer; names: number }
  | { state: "absent" }
  /** The reason goes on after "it". */
  | { state: "refused"; reason: string };

/** A link that is put there meanwhile is not followed, and a pipe does not make us wait for whoever writes to it. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Reads a file that a repository or a child may have made, as `follow` has found it: another one that has taken its
 * place meanwhile is refused. Waits for nobody but the file system, and never throws.
 */
export function readPlainFile(found: Found | undefined, maxBytes: number): PlainFile {
  if (!found) return refused("leads through a link that can't be followed, or into /proc, /dev or /sys");
  if (found.kind === "missing") return { state: "absent" };
  if (found.kind !== "file") return refused("is no regular file");
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
    return refused("changes while it is looked at");
  if (opened.size > maxBytes) return refused(`has ${opened.size} bytes, more than ${maxBytes}`);
  const bytes = readAtMost(fd, maxBytes + 1);
  return bytes.length > maxBytes
    ? refused(`has more than ${maxBytes} bytes`)
    : { state: "read", bytes, names: Number(opened.nlink) };
}

/** Whether it lies where it was found, and not behind a directory that was exchanged for a link; only Linux can tell. */
function isOpenedAt(fd: number, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return true;
  }
}

/** Whatever size the file claims: some claim none and have no end. */
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
