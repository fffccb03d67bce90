import { nextQueue, type OwnerQueue } from "./fair-share.ts";

/** The child of a running turn. */
export type RunningChild = {
  owner: string;
  isBorrowed: boolean;
  /** Owners whose tokens are in the child's settings: it may start turns as them. */
  heldTokens: string[];
};
/** The next turn to start; `isBorrowed`: beyond `--max-running`. */
export type Start = { id: string; isBorrowed: boolean };

/** How many generations of children with the same token may start while all slots are taken. */
export const MAX_GENERATIONS = 8;

/** How many turns may run beyond the limit, in all. Each owner's first one comes on top. */
export function mostBorrowed(maxRunning: number): number {
  return Math.max(maxRunning, MAX_GENERATIONS);
}

/**
 * The turn that may start now. A free slot goes to the next owner and is taken until its turn ends. A child may hold a
 * token, start children with it and wait for them. If such parents held all slots, their children could never start. So
 * when all slots are taken, a turn of a held token may borrow. A borrowed turn takes no slot, so every slot that
 * becomes free still goes to the next owner.
 */
export function nextStart(queues: OwnerQueue[], running: RunningChild[], maxRunning: number): Start | undefined {
  const isBorrowed = running.filter((turn) => !turn.isBorrowed).length >= maxRunning;
  const entitled = isBorrowed ? queues.filter(({ owner }) => mayBorrow(owner, running, maxRunning)) : queues;
  const id = nextQueue(entitled)?.waiting[0];
  return id === undefined ? undefined : { id, isBorrowed };
}

/**
 * An owner may borrow if a running child holds its token, and if each of its own running turns may be waiting for
 * another, because its child holds a token too.
 */
function mayBorrow(owner: string, running: RunningChild[], maxRunning: number): boolean {
  const own = running.filter((turn) => turn.owner === owner);
  const isLent = running.some(({ heldTokens }) => heldTokens.includes(owner));
  return isLent && own.every(({ heldTokens }) => heldTokens.length > 0) && hasRoom(own, running, maxRunning);
}

/** An owner's first borrowed turn always has room, so that no other borrower can block it. */
function hasRoom(own: RunningChild[], running: RunningChild[], maxRunning: number): boolean {
  const borrowed = countBorrowed(own);
  return borrowed === 0 || (borrowed < MAX_GENERATIONS && countBorrowed(running) < mostBorrowed(maxRunning));
}

function countBorrowed(turns: RunningChild[]): number {
  return turns.filter(({ isBorrowed }) => isBorrowed).length;
}
