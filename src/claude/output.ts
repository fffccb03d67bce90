import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { watchChanges } from "./directory-changes.ts";
import { filesIn } from "./launch.ts";
import { createLineSplitter, type OutputLine } from "./line-splitter.ts";

const CHUNK_BYTES = 1024 * 1024;
/** A batch is at least this long in the making, so that what streams word by word comes by the phrase. */
const PACE_MS = 100;

/**
 * What the child has written from `fromOffset` on and still writes, in batches; ends when the child has ended and
 * all is read. `isOver` tells of a child that ended without noting an exit code.
 */
export async function* readOutput(
  dir: string,
  fromOffset: number,
  { signal, isOver = () => false }: { signal?: AbortSignal; isOver?: () => boolean } = {},
): AsyncGenerator<OutputLine[]> {
  const files = filesIn(dir);
  await using file = await openIfAny(files.stdout);
  if (file === undefined) return;
  using changes = watchChanges(dir, signal);
  const splitter = createLineSplitter(fromOffset);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = fromOffset;
  while (!signal?.aborted) {
    changes.forget();
    // Before reading: what is written until the end is then read too.
    const ended = existsSync(files.exit) || isOver();
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
    at += bytesRead;
    if (bytesRead > 0) {
      const lines = splitter.push(buffer.subarray(0, bytesRead));
      if (lines.length > 0) yield lines;
      continue;
    }
    if (!ended) {
      await changes.next();
      await changes.pause(PACE_MS);
      continue;
    }
    const last = splitter.end();
    if (last) yield [last];
    return;
  }
}

async function openIfAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
