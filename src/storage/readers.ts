/**
 * A reader gets each ended turn once: an MCP client of an owner, or a name that the caller chose. It reads all
 * sessions, or one session, in which it may be further along.
 */
export type Reader = { owner: string; consumer: string; sessionId?: string | undefined };

/**
 * Where a new reader begins: up to `limit` turns that ended since `endedSince`, even if another reader of its owner has
 * seen them.
 */
export type FirstTold = { endedSince: number; limit: number };

export type ReaderStanding = {
  /** The last change that this reader has seen; for a new reader, the change that it begins after. */
  position: number;
  /** Whether this reader has a stored position. */
  isKnown: boolean;
  /** The last change that any reader of this owner has seen, in all sessions or in this one. */
  furthest: number;
};

export type ReaderStorage = {
  /**
   * Returns a reader's position. A new reader begins with the turns that no reader of its owner has seen, and with
   * those that ended lately; an owner's first reader begins with everything. Reading one session alone doesn't advance
   * the position in others. `visible` is the owner whose turns the reader may see, or undefined for all.
   */
  standing(reader: Reader, visible: string | undefined, first: FirstTold): Promise<ReaderStanding>;

  /**
   * Advances a reader, or stores a new one; a position never moves back. Keeps only the `most` recently used readers of
   * this owner. Does nothing if the owner's token was revoked.
   */
  advance(
    reader: Reader,
    position: number,
    by: { most: number; ownerToken: string | undefined; now: number },
  ): Promise<void>;
  /** Deletes up to `limit` readers last used before `before`; returns how many. */
  removeUnusedSince(before: number, limit: number): Promise<number>;
};
