import type { Interruption } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TurnRow } from "../../storage/turns.ts";
import type { Broadcast } from "../events/broadcast.ts";

/**
 * How long a child may take to end by itself, which counts what it has cost: the CLI ends at once where the child itself
 * had asked, and goes on where a subagent had.
 */
const GRACE_MS = 1_500;

type InterruptionsNeed = {
  storage: { approvals: Pick<Storage["approvals"], "interruption"> };
  broadcast: Broadcast;
  onError: (cause: unknown) => void;
  graceMs?: number;
};

/** Denials that end the turn of the child that asked. */
export function createInterruptions({ storage, broadcast, onError, graceMs = GRACE_MS }: InterruptionsNeed) {
  /** Why the turn is to end, if a denial in it says so. */
  async function reasonIn({ id }: Pick<TurnRow, "id">): Promise<string | undefined> {
    const found = await storage.approvals.interruption(id);
    return found && reasonOf(found);
  }

  return {
    reasonIn,
    /** Calls `stop` where a child goes on although a denial has ended its turn, also one that an earlier server took; until disposed. */
    enforce(turn: Pick<TurnRow, "id" | "sessionId">, stop: (why: string) => void): Disposable {
      const waiter = broadcast.waitFor(turn.sessionId);
      let isOver = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const watch = async () => {
        while (!isOver) {
          const why = await reasonIn(turn);
          if (why === undefined) await waiter.woken();
          else {
            if (!isOver) timer = setTimeout(() => stop(why), graceMs);
            return;
          }
        }
      };
      void watch().catch(onError);
      return {
        [Symbol.dispose]() {
          isOver = true;
          clearTimeout(timer);
          waiter[Symbol.dispose]();
        },
      };
    },
  };
}

function reasonOf({ responseMessage, resolvedBy }: Interruption): string {
  return responseMessage || `The turn was ended by ${resolvedBy}, who denied a call without a reason.`;
}
