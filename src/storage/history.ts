/** The bytes that one owner's history takes. */
export type OwnerBytes = { owner: string; bytes: number };

/** The size of the stored history, and its deletion in small steps, so that decisions don't wait behind it. */
export type HistoryStorage = {
  /** Returns the bytes in use. SQLite reuses free pages or returns them to the file system. */
  usedBytes(): Promise<number>;
  /** Sums, per owner, the events of turns that ended before `before`. */
  endedTurns(before: number): Promise<OwnerBytes[]>;
  /** Sums, per owner, the large inputs of requests decided before `before`. */
  largeInputs(before: number): Promise<OwnerBytes[]>;
  /** The part of `largeInputs` decided before there was a hash chain. */
  unchainedInputs(before: number): Promise<OwnerBytes[]>;
  /**
   * Returns the time before which the owner's oldest turns ended, `bytes` of them; `before` if there are fewer bytes.
   */
  endOfTurns(owner: string, bytes: number, before: number): Promise<number>;
  /**
   * Returns the time before which the owner's oldest large inputs were decided, `bytes` of them; `before` if there are
   * fewer.
   */
  endOfInputs(owner: string, bytes: number, before: number): Promise<number>;
  /** Returns when the oldest decision outside of any chain was made. */
  oldestUnchainedAt(): Promise<number | undefined>;

  /** Deletes turns that ended before `before`, about `limit` rows in all; returns 0 when nothing is left to delete. */
  removeTurnsEndedBefore(before: number, limit: number): Promise<number>;
  removeTurnsOfOwnerEndedBefore(owner: string, before: number, limit: number): Promise<number>;
  /**
   * Deletes up to `limit` decisions outside of any chain that were made before `before`, oldest first; returns how
   * many.
   */
  removeUnchainedBefore(before: number, limit: number): Promise<number>;
  /** Returns some free space to the file system; `false` if there is none, or if this database can't shrink. */
  giveBackSome(): Promise<boolean>;
};

/** Metrics whose cost doesn't grow with the history. */
export type FigureStorage = {
  pending(): Promise<{ count: number; oldestAt: number | null }>;
  /** The number of running turns, and of their events so far. */
  running(): Promise<{ count: number; events: number }>;
  queued(): Promise<number>;
  databaseBytes(): Promise<number>;
  /** Bytes in the write-ahead log: committed, but not yet in the database file. */
  logBytes(): Promise<number>;
};
