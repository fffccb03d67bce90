import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { filesIn } from "../launch/launch.ts";
import { watchChanges } from "./directory-changes.ts";
import { createLineSplitter, NEWLINE, type OutputLine } from "./line-splitter.ts";
import { createReadProgress, type ReadProgress } from "./read-progress.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Bounds a batch, so that a stream of tiny lines does not block the event loop. */
const MAX_BATCH_LINES = 5_000;
/** The shortest time between two batches, so that streamed text is stored in longer parts. */
const PACE_MS = 100;

type Options = {
  signal?: AbortSignal;
  /** Whether the child has ended, perhaps without writing an exit code. */
  isOver?: () => boolean;
  stored?: ReadProgress;
};

/** Yields the child's output from `fromOffset` on, in batches; returns when the child has ended and all is read. */
export async function* readOutput(
  dir: string,
  fromOffset: number,
  { signal, isOver = () => false, stored = createReadProgress() }: Options = {},
): AsyncGenerator<OutputLine[]> {
  const files = filesIn(dir);
  await using file = await openIfAny(files.stdout);
  if (file === undefined) return;
  using changes = watchChanges(dir, signal);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const splitter = createLineSplitter(fromOffset, await isInsideLine(file, fromOffset));
  let at = fromOffset;
  let readAt = Number.NEGATIVE_INFINITY;
  stored.onWait(changes.hurry);
  while (!signal?.aborted) {
    changes.reset();
    const allStored = stored.beginRead();
    // Checked before reading, so that everything written before the end is read too.
    const ended = existsSync(files.exit) || isOver();
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
    at += bytesRead;
    if (bytesRead > 0) {
      yield* inBatches(splitter.push(buffer.subarray(0, bytesRead)));
      readAt = performance.now();
      continue;
    }
    allStored();
    if (!ended) {
      await changes.next();
      // Only a pause between batches: the first word after a silence is read at once.
      await changes.pause(readAt + PACE_MS - performance.now());
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

/** Whether the offset is in the middle of a line: reading stops only after a line, or after a piece of a long one. */
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
