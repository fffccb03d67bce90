import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { watchChanges } from "../launch/directory-changes.ts";
import { filesIn } from "../launch/launch.ts";
import { createLineSplitter, NEWLINE, type OutputLine } from "./line-splitter.ts";
import { type CatchUp, createCatchUp } from "./output-stored.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Tiny lines without end must not keep everybody else waiting. */
const MAX_BATCH_LINES = 5_000;
/** A batch is at least this long in the making, so that what streams word by word comes by the phrase. */
const PACE_MS = 100;

type ReadingOptions = { signal?: AbortSignal; isOver?: () => boolean; catchUp?: CatchUp };

/**
 * What the child has written from `fromOffset` on and still writes, in batches; ends when the child has ended and
 * all is read. `isOver` tells of a child that ended without noting an exit code.
 */
export async function* readOutput(
  dir: string,
  fromOffset: number,
  { signal, isOver = () => false, catchUp = createCatchUp() }: ReadingOptions = {},
): AsyncGenerator<OutputLine[]> {
  const files = filesIn(dir);
  await using file = await openIfAny(files.stdout);
  if (file === undefined) return;
  using changes = watchChanges(dir, signal);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const splitter = createLineSplitter(fromOffset, await isInsideLine(file, fromOffset));
  let at = fromOffset;
  catchUp.onAsked(changes.hurry);
  while (!signal?.aborted) {
    changes.forget();
    const caughtUp = catchUp.waiting();
    // Before reading: what is written until the end is then read too.
    const ended = existsSync(files.exit) || isOver();
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
    at += bytesRead;
    if (bytesRead > 0) {
      yield* inBatches(splitter.push(buffer.subarray(0, bytesRead)));
      continue;
    }
    caughtUp();
    if (!ended) {
      await changes.next();
      await changes.pause(PACE_MS);
      continue;
    }
    yield* inBatches(splitter.end());
    return;
  }
}

function* inBatches(lines: Iterable<OutputLine>): Generator<OutputLine[]> {
  let batch: OutputLine[] = [];
  for (const line of lines) {
    const isPiece = typeof line.line !== "string";
    if (batch.push(line) < MAX_BATCH_LINES && !isPiece) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Reading stops behind a line, or else behind a piece of one that is too long. */
async function isInsideLine(file: FileHandle, offset: number): Promise<boolean> {
  if (offset === 0) return false;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, offset - 1);
  return bytesRead === 1 && buffer[0] !== NEWLINE;
}

async function openIfAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
