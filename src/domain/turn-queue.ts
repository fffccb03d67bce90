import { AppError } from "../schema/errors.ts";
import type { Storage } from "../storage/database.ts";
import type { QueuedTurn, QueueSize } from "../storage/queued-turns.ts";
import type { RunningTurn, TurnRow } from "../storage/turns.ts";
import { type Line, nextLine, startOrder } from "./fair-share.ts";
import type { Tokens } from "./tokens.ts";

const MEGABYTE = 1024 * 1024;
const MOST_IN_ALL: QueueSize = { count: 1_000, bytes: 256 * MEGABYTE };
const MOST_OF_ONE: QueueSize = { count: 200, bytes: 64 * MEGABYTE };
/** How deep children may start children with one and the same token while all slots are taken. */
const MAX_GENERATIONS = 8;

export type TurnQueue = ReturnType<typeof createTurnQueue>;
type NewTurn = Pick<TurnRow, "id" | "sessionId" | "owner" | "ephemeral" | "startedAt">;
type QueueNeed = { storage: Storage; tokens: Pick<Tokens, "ownersIn">; maxRunning: number };

/**
 * Who may run, and who waits. Slots are shared fairly between the owners that want one. A child may hold a token of ours
 * with which it starts children and waits for them: when all slots are taken, that token may run one turn beyond
 * `--max-running`, or all slots could be held by parents that wait for children that never start.
 */
export function createTurnQueue({ storage, tokens, maxRunning }: QueueNeed) {
  const lastStarts = new Map<string, number>();
  let starts = 0;
  /** By the id of a running turn: the owners whose tokens its child holds. */
  let held = new Map<string, string[]>();

  function noteStart(owner: string): void {
    lastStarts.set(owner, ++starts);
  }

  function choose(waiting: QueuedTurn[]): string | undefined {
    if (waiting.length === 0) return undefined;
    const running = storage.turns.runningOwners();
    const lines = linesOf(waiting, running);
    const entitled = running.length < maxRunning ? lines : lines.filter(mayBorrow(running));
    return nextLine(entitled)?.waiting[0];
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

  /** An owner may, whose token a running child holds, when each of its own running turns may itself be waiting for another. */
  function mayBorrow(running: RunningTurn[]): (line: Line) => boolean {
    held = new Map(running.map((turn) => [turn.id, held.get(turn.id) ?? tokensHeldIn(turn)]));
    const holds = ({ id }: RunningTurn, owner: string) => held.get(id)?.includes(owner) ?? false;
    return ({ owner }) => {
      const own = running.filter((turn) => turn.owner === owner);
      const isLent = running.some((turn) => holds(turn, owner));
      return isLent && own.length < MAX_GENERATIONS && own.every((turn) => holds(turn, owner));
    };
  }

  function tokensHeldIn({ sessionId }: RunningTurn): string[] {
    const servers = storage.sessions.get(sessionId)?.config?.mcp_servers;
    return servers ? tokens.ownersIn(JSON.stringify(servers)) : [];
  }

  // Those that run already have had their share.
  for (const { owner } of storage.turns.listRunning()) noteStart(owner);

  return {
    /** Whether a new turn may run at once; called in the transaction that files it. */
    admits(turn: QueuedTurn): boolean {
      const isFree = !storage.turns.isAnyQueued() && storage.turns.countRunning() < maxRunning;
      return isFree || choose([...storage.turns.listQueued(), turn]) === turn.id;
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
    next: (): string | undefined => (storage.turns.isAnyQueued() ? choose(storage.turns.listQueued()) : undefined),

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
