import type { Interruption } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TurnRow } from "../../storage/turns.ts";
import type { Broadcast } from "../events/broadcast.ts";

/**
 * How long a child may take to end by itself, so that its cost is still counted. The CLI ends at once if the child
 * itself asked, and goes on if a subagent asked.
 */
const GRACE_MS = 1_500;

type InterruptionsNeed = {
  storage: { approvals: Pick<Storage["approvals"], "interruption"> };
  broadcast: Broadcast;
  onError: (cause: unknown) => void;
  graceMs?: number;
};

/** Denials with `interrupt`, which end the turn. */
export function createInterruptions({ storage, broadcast, onError, graceMs = GRACE_MS }: InterruptionsNeed) {
  /** The reason of the denial that ends this turn, if there is one. */
  async function reasonIn({ id }: Pick<TurnRow, "id">): Promise<string | undefined> {
    const found = await storage.approvals.interruption(id);
    return found && reasonOf(found);
  }

  return {
    reasonIn,
    /**
     * Calls `stop` if the child goes on after a denial that ends its turn, also one recorded by an earlier server. Runs
     * until disposed.
     */
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
