import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isWithin, realPath } from "../claude/real-path.ts";
import type { FileNow } from "../schema/approval-context.ts";

const MAX_BYTES = 1024 * 1024;
/** A pipe must not make us wait for whoever writes to it. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/** What a file holds, as far as it can be shown; whatever is wrong with it is told, never thrown. */
export async function fileNow(path: string, privatePaths: string[]): Promise<FileNow> {
  try {
    await using file = await open(path, FLAGS);
    return (await refusal(file, path, privatePaths)) ?? shown(path, await file.readFile());
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent", path };
    return { state: "unshown", path, reason: `it can't be read (${String(code ?? cause)})` };
  }
}

/** Looks at what was opened, not at what the path may name a moment later. */
async function refusal(file: FileHandle, path: string, privatePaths: string[]): Promise<FileNow | undefined> {
  const unshown = (reason: string): FileNow => ({ state: "unshown", path, reason });
  const opened = await file.stat();
  const real = await realpath(path);
  const named = await lstat(real);
  if (opened.dev !== named.dev || opened.ino !== named.ino) return unshown("it changes while it is looked at");
  for (const one of privatePaths) {
    if (await isPrivate(real, opened, one)) return unshown("it holds settings or tokens that no child may reach");
  }
  if (!opened.isFile()) return unshown("it is no regular file");
  if (opened.size > MAX_BYTES) return unshown(`it has ${opened.size} bytes, too many to compare`);
  return undefined;
}

/** By its path, or as another name of the same file; what lies below a directory can't be known by another name. */
async function isPrivate(real: string, opened: Stats, privatePath: string): Promise<boolean> {
  if (isWithin(realPath(privatePath), real)) return true;
  const named = await lstat(realPath(privatePath)).catch(() => undefined);
  return named !== undefined && named.dev === opened.dev && named.ino === opened.ino;
}

function shown(path: string, bytes: Buffer): FileNow {
  if (bytes.length > MAX_BYTES) return { state: "unshown", path, reason: "it is too large to compare" };
  if (bytes.includes(0)) return { state: "unshown", path, reason: "it is binary" };
  return { state: "text", path, text: bytes.toString("utf8") };
}
