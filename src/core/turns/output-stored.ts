import type { ReadProgress } from "../../claude/output/read-progress.ts";

/** A request must not wait long for earlier output. */
const MAX_WAIT_MS = 250;

export type OutputStored = ReturnType<typeof createOutputStored>;

/** Makes a request wait until the child's earlier output is stored. */
export function createOutputStored() {
  const readers = new Map<string, ReadProgress>();
  return {
    /** Registers the reader of this session's child until disposed. */
    add(sessionId: string, reader: ReadProgress): Disposable {
      readers.set(sessionId, reader);
      return {
        [Symbol.dispose]() {
          if (readers.get(sessionId) === reader) readers.delete(sessionId);
        },
      };
    },
    /** Resolves when everything that the session's child has written so far is stored, or after MAX_WAIT_MS. */
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
