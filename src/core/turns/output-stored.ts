import type { ReadProgress } from "../../claude/output/read-progress.ts";

/** A request must not wait long for the words that came before it. */
const MAX_WAIT_MS = 250;

export type OutputStored = ReturnType<typeof createOutputStored>;

/** Lets a request of a child wait until what the child has said before it is on record. */
export function createOutputStored() {
  const readers = new Map<string, ReadProgress>();
  return {
    /** The output of this session's child is read by this reader, until disposed. */
    add(sessionId: string, reader: ReadProgress): Disposable {
      readers.set(sessionId, reader);
      return {
        [Symbol.dispose]() {
          if (readers.get(sessionId) === reader) readers.delete(sessionId);
        },
      };
    },
    /** Resolves when what the session's child has written so far is stored, or when that takes too long. */
    async wait(sessionId: string): Promise<void> {
      const reader = readers.get(sessionId);
      if (!reader) return;
      const { promise: timeUp, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, MAX_WAIT_MS);
      await Promise.race([reader.wait(), timeUp]);
      clearTimeout(timer);
    },
  };
}
