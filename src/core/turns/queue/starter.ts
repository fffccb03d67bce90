import { AppError } from "../../../contract/refusals/errors.ts";
import type { Storage } from "../../../storage/storage.ts";
import { createRepeatedWork } from "../../events/repeated-work.ts";
import { isPassing } from "../retry.ts";
import type { ChosenTurn, TurnQueue } from "./turn-queue.ts";

type StarterNeed = {
  storage: Pick<Storage, "turns">;
  queue: Pick<TurnQueue, "next">;
  now: () => number;
  /** Begins this queued turn and starts its child, if the turn is still next. */
  begin: (chosen: ChosenTurn) => Promise<unknown>;
  /** Retries while the error may pass. */
  retrying: (work: () => Promise<void>) => Promise<void>;
  onError: (cause: unknown) => void;
};

/** Starts queued turns in sequence while there is room. */
export function createQueueStarter({ storage, queue, now, begin, retrying, onError }: StarterNeed) {
  let isOpen = false;
  const look = createRepeatedWork(() =>
    retrying(async () => {
      while (isOpen) {
        const next = await queue.next();
        // Check again: `close` may have been called during the read, and a turn that began now would have no owner.
        if (next === undefined || !isOpen) return;
        await start(next);
      }
    }),
  );

  async function start(chosen: ChosenTurn): Promise<void> {
    try {
      await begin(chosen);
    } catch (cause) {
      // The turn is still queued: retry.
      if (isPassing(cause) && (await storage.turns.get(chosen.id))?.status === "queued") throw cause;
      if (!(cause instanceof AppError)) onError(cause);
      // A turn that can't be started must not block the queue.
      await storage.turns.endIfQueued(chosen.id, { status: "failed", error: messageOf(cause) }, now());
    }
  }

  return {
    /** Starts turns while there is room. Called whenever something may have made room. */
    look,
    /** Called once children can reach the server. */
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
