import { AppError } from "../../../contract/errors.ts";
import type { Storage } from "../../../storage/sqlite/database.ts";
import type { TurnRecord } from "../record.ts";
import { createRepeatedWork } from "../repeated-work.ts";
import { isPassing } from "../retry.ts";
import type { TurnQueue } from "./turn-queue.ts";

type StarterNeed = {
  storage: Storage;
  queue: TurnQueue;
  record: TurnRecord;
  /** Begins this queued turn, if it is still its turn, and starts its child. */
  begin: (turnId: string) => Promise<unknown>;
  /** Tries again for as long as what is in the way may pass. */
  insisting: (work: () => Promise<void>) => Promise<void>;
  onError: (cause: unknown) => void;
};

export type QueueStarter = ReturnType<typeof createQueueStarter>;

/** Starts queued turns one after the other, as soon as there is room. */
export function createQueueStarter({ storage, queue, record, begin, insisting, onError }: StarterNeed) {
  let isOpen = false;
  const look = createRepeatedWork(() =>
    insisting(async () => {
      while (isOpen) {
        const next = queue.next();
        if (next === undefined) return;
        await start(next.id);
      }
    }),
  );

  async function start(id: string): Promise<void> {
    try {
      await begin(id);
    } catch (cause) {
      // Still queued, and tried again.
      if (isPassing(cause) && storage.turns.get(id)?.status === "queued") throw cause;
      if (!(cause instanceof AppError)) onError(cause);
      // One that can't even be begun must not keep the others waiting.
      await record.endQueued(id, { status: "failed", error: messageOf(cause) });
    }
  }

  return {
    /** Starts what there is room for; to be called after whatever may have made room. */
    look,
    /** Children can reach us from now on. */
    open(): void {
      isOpen = true;
      look();
    },
    close(): void {
      isOpen = false;
    },
    async cancelAll(error: string): Promise<void> {
      // Behind all that is being filed right now.
      const queued = await storage.write(() => storage.turns.listQueued());
      await Promise.all(queued.map(({ id }) => record.endQueued(id, { status: "cancelled", error })));
    },
  };
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
