import { AppError } from "../../../contract/refusals/errors.ts";
import type { Storage } from "../../../storage/storage.ts";
import { createRepeatedWork } from "../../events/repeated-work.ts";
import { isPassing } from "../retry.ts";
import type { ChosenTurn, TurnQueue } from "./turn-queue.ts";

type StarterNeed = {
  storage: Pick<Storage, "turns">;
  queue: Pick<TurnQueue, "next">;
  now: () => number;
  /** Begins this queued turn, if it is still its turn, and starts its child. */
  begin: (chosen: ChosenTurn) => Promise<unknown>;
  /** Tries again for as long as what is in the way may pass. */
  retrying: (work: () => Promise<void>) => Promise<void>;
  onError: (cause: unknown) => void;
};

/** Starts queued turns one after the other, as soon as there is room. */
export function createQueueStarter({ storage, queue, now, begin, retrying, onError }: StarterNeed) {
  let isOpen = false;
  const look = createRepeatedWork(() =>
    retrying(async () => {
      while (isOpen) {
        const next = await queue.next();
        // It may have been closed while the queue was read: what began then would be looked after by nobody.
        if (next === undefined || !isOpen) return;
        await start(next);
      }
    }),
  );

  async function start(chosen: ChosenTurn): Promise<void> {
    try {
      await begin(chosen);
    } catch (cause) {
      // Still queued, and tried again.
      if (isPassing(cause) && (await storage.turns.get(chosen.id))?.status === "queued") throw cause;
      if (!(cause instanceof AppError)) onError(cause);
      // One that can't even be begun must not keep the others waiting.
      await storage.turns.endIfQueued(chosen.id, { status: "failed", error: messageOf(cause) }, now());
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
    cancelAll: (error: string): Promise<void> => storage.turns.endEveryQueued({ status: "cancelled", error }, now()),
  };
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
