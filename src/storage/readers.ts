/**
 * Somebody who is told of the turns that end, each once: a client of an owner, or a name that it gave itself. In all
 * sessions, or in one, where it can be further.
 */
export type Reader = { owner: string; consumer: string; sessionId?: string | undefined };

/** What a reader is told first: the turns that ended since then, at most so many, although another reader of its owner knows of them. */
export type FirstTold = { endedSince: number; limit: number };

export type ReaderStanding = {
  /** The change up to which this reader was told, or from which on it will be. */
  position: number;
  /** Whether it has been here before. */
  isKnown: boolean;
  /** The furthest that any reader of its owner was told of all sessions, or of this one. */
  furthest: number;
};

export type ReaderStorage = {
  /**
   * Where a reader stands. A new one begins with what no reader of its owner was told, and what ended lately; the first
   * one of an owner with everything. What was told in one session alone moves nobody on in others. `visible` is the owner whose turns it sees, if not everybody's.
   */
  standing(reader: Reader, visible: string | undefined, first: FirstTold): Promise<ReaderStanding>;

  /**
   * Moves a reader on, or notes it where it stands; a position only moves forward. Forgets all but the `most` of this owner
   * that were used last. Does nothing for an owner whose token, if it has one, was revoked.
   */
  advance(
    reader: Reader,
    position: number,
    by: { most: number; ownerToken: string | undefined; now: number },
  ): Promise<void>;
  /** Forgets up to `limit` of those last used before `before`; returns how many. */
  removeUnusedSince(before: number, limit: number): Promise<number>;
};
