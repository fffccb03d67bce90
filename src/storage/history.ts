/** How many bytes of something an owner holds. */
export type OwnerBytes = { owner: string; bytes: number };

/** What is kept of the past, how large it is, and how it is forgotten in steps, so that decisions get their turn in between. */
export type HistoryStorage = {
  /** What is in use; what is free is used again, or given back. */
  usedBytes(): Promise<number>;
  /** By the owner, of the events of turns that had ended before `before`. */
  endedTurns(before: number): Promise<OwnerBytes[]>;
  /** By the owner, of the large inputs of what was decided before `before`. */
  largeInputs(before: number): Promise<OwnerBytes[]>;
  /** Those of `largeInputs` that were decided before there was a hash chain. */
  unchainedInputs(before: number): Promise<OwnerBytes[]>;
  /** The time before which the owner's oldest turns, `bytes` of them, had ended; `before` when there is less. */
  endOfTurns(owner: string, bytes: number, before: number): Promise<number>;
  /** The time before which the owner's oldest large inputs, `bytes` of them, were decided; `before` when there is less. */
  endOfInputs(owner: string, bytes: number, before: number): Promise<number>;
  /** When the oldest was decided that no chain has. */
  oldestUnchainedAt(): Promise<number | undefined>;

  /** Forgets some turns that ended before `before`, about `limit` rows in all; 0 when there is nothing left to forget. */
  removeTurnsEndedBefore(before: number, limit: number): Promise<number>;
  removeTurnsOfOwnerEndedBefore(owner: string, before: number, limit: number): Promise<number>;
  /** Forgets up to `limit` of those decided before `before` that no chain has, the oldest first; returns how many. */
  removeUnchainedBefore(before: number, limit: number): Promise<number>;
  /** Gives some free space back to the file system; `false` when there is none, or this database never does. */
  giveBackSome(): Promise<boolean>;
};

/** Figures that cost the same however long the history is. */
export type FigureStorage = {
  pending(): Promise<{ count: number; oldestAt: number | null }>;
  /** The turns that run, and how many events they have by now. */
  running(): Promise<{ count: number; events: number }>;
  queued(): Promise<number>;
  databaseBytes(): Promise<number>;
  /** What is committed, and not yet in the database file. */
  logBytes(): Promise<number>;
};
