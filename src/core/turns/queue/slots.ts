import { type Line, nextLine } from "./fair-share.ts";

/** A turn that runs, and the owners whose tokens its child holds. */
export type Runner = { owner: string; isBorrowed: boolean; holds: string[] };
/** The turn that starts next: in a slot, or beyond `--max-running`. */
export type Start = { id: string; isBorrowed: boolean };

/** How deep children may start children with one and the same token while all slots are taken. */
export const MAX_GENERATIONS = 8;

/** How many turns may run beyond the limit, in all; an owner's first one always may. */
export function mostBorrowed(maxRunning: number): number {
  return Math.max(maxRunning, MAX_GENERATIONS);
}

/**
 * What may start now. A free slot goes to the fairest line, and is taken until its turn ends. A child may hold a token
 * with which it starts children and waits for them: when all slots are taken, a turn of that token may borrow, or
 * parents that wait could hold all slots against the children that they wait for. What borrows takes no slot, so
 * that however often somebody borrows, every slot that becomes free goes to whoever is next.
 */
export function nextStart(lines: Line[], running: Runner[], maxRunning: number): Start | undefined {
  const isBorrowed = running.filter((turn) => !turn.isBorrowed).length >= maxRunning;
  const entitled = isBorrowed ? lines.filter(({ owner }) => mayBorrow(owner, running, maxRunning)) : lines;
  const id = nextLine(entitled)?.waiting[0];
  return id === undefined ? undefined : { id, isBorrowed };
}

/**
 * An owner may, whose token a running child holds, while each of its own running turns may be waiting for another,
 * since its child holds a token too.
 */
function mayBorrow(owner: string, running: Runner[], maxRunning: number): boolean {
  const own = running.filter((turn) => turn.owner === owner);
  const isLent = running.some(({ holds }) => holds.includes(owner));
  return isLent && own.every(({ holds }) => holds.length > 0) && hasRoom(own, running, maxRunning);
}

/** The first of each owner has always room: nobody who borrows keeps another from it. */
function hasRoom(own: Runner[], running: Runner[], maxRunning: number): boolean {
  const borrowed = countBorrowed(own);
  return borrowed === 0 || (borrowed < MAX_GENERATIONS && countBorrowed(running) < mostBorrowed(maxRunning));
}

function countBorrowed(turns: Runner[]): number {
  return turns.filter(({ isBorrowed }) => isBorrowed).length;
}
