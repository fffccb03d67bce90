import { nextQueue, type OwnerQueue } from "./fair-share.ts";

/** The child of a turn that runs. */
export type RunningChild = {
  owner: string;
  isBorrowed: boolean;
  /** The owners whose tokens are in its settings, so that it may start turns as them. */
  heldTokens: string[];
};
/** The turn that starts next: in a slot, or beyond `--max-running`. */
export type Start = { id: string; isBorrowed: boolean };

/** How deep children may start children with one and the same token while all slots are taken. */
export const MAX_GENERATIONS = 8;

/** How many turns may run beyond the limit, in all; an owner's first one always may. */
export function mostBorrowed(maxRunning: number): number {
  return Math.max(maxRunning, MAX_GENERATIONS);
}

/**
 * What may start now. A free slot goes to the owner that is next, and is taken until its turn ends. A child may hold a
 * token with which it starts children and waits for them: when all slots are taken, a turn of that token may borrow,
 * or parents that wait could hold all slots against the children that they wait for. What borrows takes no slot, so
 * that however often somebody borrows, every slot that becomes free goes to whoever is next.
 */
export function nextStart(queues: OwnerQueue[], running: RunningChild[], maxRunning: number): Start | undefined {
  const isBorrowed = running.filter((turn) => !turn.isBorrowed).length >= maxRunning;
  const entitled = isBorrowed ? queues.filter(({ owner }) => mayBorrow(owner, running, maxRunning)) : queues;
  const id = nextQueue(entitled)?.waiting[0];
  return id === undefined ? undefined : { id, isBorrowed };
}

/**
 * An owner may when a running child holds its token, as long as each of its own running turns may be waiting for another
 * one, because that turn's child holds a token too.
 */
function mayBorrow(owner: string, running: RunningChild[], maxRunning: number): boolean {
  const own = running.filter((turn) => turn.owner === owner);
  const isLent = running.some(({ heldTokens }) => heldTokens.includes(owner));
  return isLent && own.every(({ heldTokens }) => heldTokens.length > 0) && hasRoom(own, running, maxRunning);
}

/** The first of each owner has always room: nobody who borrows keeps another from it. */
function hasRoom(own: RunningChild[], running: RunningChild[], maxRunning: number): boolean {
  const borrowed = countBorrowed(own);
  return borrowed === 0 || (borrowed < MAX_GENERATIONS && countBorrowed(running) < mostBorrowed(maxRunning));
}

function countBorrowed(turns: RunningChild[]): number {
  return turns.filter(({ isBorrowed }) => isBorrowed).length;
}
