import { AppError } from "../../../contract/errors.ts";
import type { Storage } from "../../../storage/sqlite/database.ts";
import type { QueuedTurn, QueueSize } from "../../../storage/sqlite/turns/queued-turns.ts";
import type { RunningTurn, TurnRow } from "../../../storage/sqlite/turns/turns.ts";
import type { Tokens } from "../../access/tokens.ts";
import { type Line, startOrder } from "./fair-share.ts";
import { nextStart, type Start } from "./slots.ts";

const MEGABYTE = 1024 * 1024;
const MOST_IN_ALL: QueueSize = { count: 1_000, bytes: 256 * MEGABYTE };
const MOST_OF_ONE: QueueSize = { count: 200, bytes: 64 * MEGABYTE };

export type TurnQueue = ReturnType<typeof createTurnQueue>;
type NewTurn = Pick<TurnRow, "id" | "sessionId" | "owner" | "ephemeral" | "startedAt">;
type QueueNeed = { storage: Storage; tokens: Pick<Tokens, "ownersIn">; maxRunning: number };

/** Who may run, and who waits: slots are shared fairly between the owners that want one. */
export function createTurnQueue({ storage, tokens, maxRunning }: QueueNeed) {
  const lastStarts = new Map<string, number>();
  let starts = 0;
  /** By the id of a running turn: the owners whose tokens its child holds. */
  let held = new Map<string, string[]>();

  function noteStart(owner: string): void {
    lastStarts.set(owner, ++starts);
  }

  function choose(waiting: QueuedTurn[]): Start | undefined {
    const running = storage.turns.runningOwners();
    held = new Map(running.map((turn) => [turn.id, held.get(turn.id) ?? tokensHeldIn(turn)]));
    const runners = running.map((turn) => ({ ...turn, holds: held.get(turn.id) ?? [] }));
    return nextStart(linesOf(waiting, running), runners, maxRunning);
  }

  function linesOf(waiting: QueuedTurn[], running: RunningTurn[]): Line[] {
    return Map.groupBy(waiting, ({ owner }) => owner)
      .entries()
      .map(([owner, turns]) => ({
        owner,
        waiting: turns.map(({ id }) => id),
        running: running.filter((turn) => turn.owner === owner).length,
        lastStart: lastStarts.get(owner) ?? 0,
      }))
      .toArray();
  }

  function tokensHeldIn({ sessionId }: RunningTurn): string[] {
    const servers = storage.sessions.get(sessionId)?.config?.mcp_servers;
    return servers ? tokens.ownersIn(JSON.stringify(servers)) : [];
  }

  // Those that run already have had their share.
  for (const { owner } of storage.turns.listRunning()) noteStart(owner);

  return {
    /** How a new turn may start at once, if it may; called in the transaction that files it. */
    admits({ id, owner }: QueuedTurn): Start | undefined {
      const isFree = !storage.turns.isAnyQueued() && storage.turns.countInSlots() < maxRunning;
      if (isFree) return { id, isBorrowed: false };
      const start = choose([...storage.turns.listQueued(), { id, owner }]);
      return start?.id === id ? start : undefined;
    },

    /** Files a turn that has to wait; called in a transaction. */
    file(turn: NewTurn, prompt: string): TurnRow {
      const bytes = Buffer.byteLength(prompt);
      if (isOver(storage.turns.queueSize(), bytes, MOST_IN_ALL)) throw limitReached("The queue is full", maxRunning);
      if (isOver(storage.turns.queueSize(turn.owner), bytes, MOST_OF_ONE))
        throw limitReached("Your part of the queue is full", maxRunning);
      return storage.turns.createQueued({ ...turn, prompt, reading: { offset: 0 } });
    },

    /** The turn that may start now, if there is one. */
    next: (): Start | undefined => (storage.turns.isAnyQueued() ? choose(storage.turns.listQueued()) : undefined),

    /** A turn of this owner has got a slot. */
    noteStart,

    /** How many start before this turn, and itself; `undefined` when it is not queued. */
    place(turnId: string): number | undefined {
      const lines = linesOf(storage.turns.listQueued(), storage.turns.runningOwners());
      return startOrder(lines).indexOf(turnId) + 1 || undefined;
    },
  };
}

function isOver(size: QueueSize, bytes: number, most: QueueSize): boolean {
  return size.count >= most.count || size.bytes + bytes > most.bytes;
}

function limitReached(what: string, limit: number): AppError {
  return new AppError(
    "limit_reached",
    `${what}: ${limit} children run, which is the limit (--max-running), and too many turns wait. Wait for one to end, or cancel one.`,
  );
}
