import type { EndedTurn } from "../../storage/changes.ts";
import type { Reader } from "../../storage/readers.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal, tokenIdIn, visibleOwner } from "../access/principals.ts";

const HOUR_MS = 60 * 60_000;
/** How many of the newest ends, and from which time, a new reader gets although another reader was told them. */
const FIRST_TOLD = { recent: { withinMs: HOUR_MS, limit: 50 }, unread: { withinMs: 0, limit: 0 } };
/**
 * Where a new reader begins. `recent`: a reader that begins by asking what happened may be the same agent after a
 * reconnect, so it also gets recent ends that another reader was told. `unread`: a reader that begins with work of its
 * own, or with a decision, gets only ends that no reader was told, so that old ones don't come before that work.
 */
export type Beginning = keyof typeof FIRST_TOLD;
/**
 * More than one owner uses at a time. Beyond that, the readers unused for longest are removed, and start like new ones.
 */
const MOST_OF_ONE = 1_000;
/** How many unread ends are searched for the turns that an answer contained. */
const MAX_AHEAD = 50;

/** Identifies a principal's reader: by `consumer`, else by its MCP client session, else the unnamed one. */
export type ReaderName = { consumer?: string | undefined; client?: string | undefined };
/** Where to continue, and whether that repeats what the reader was told before. */
export type ReadFrom = { since: number; isAgain: boolean };

export type Readers = ReturnType<typeof createReaders>;
type ReadersNeed = { storage: Pick<Storage, "changes" | "readers">; now: () => number };

/** Stores how far each reader was told of ended turns, so that no end is lost between two calls of any tools. */
export function createReaders({ storage, now }: ReadersNeed) {
  function standing(principal: Principal, reader: Reader, beginning: Beginning) {
    const { withinMs, limit } = FIRST_TOLD[beginning];
    const first = { endedSince: now() - withinMs, limit };
    return storage.readers.standing(reader, visibleOwner(principal), first);
  }

  function advance(reader: Reader, position: number): Promise<void> {
    const ownerToken = tokenIdIn(reader.owner);
    return storage.readers.advance(reader, position, { most: MOST_OF_ONE, ownerToken, now: now() });
  }

  /** The reader's position; stores it if the reader is new, so that other readers no longer affect it. */
  async function note(
    principal: Principal,
    reader: Reader,
    beginning: Beginning,
  ): Promise<{ position: number; isKnown: boolean }> {
    const { position, isKnown } = await standing(principal, reader, beginning);
    if (!isKnown) await advance(reader, position);
    return { position, isKnown };
  }

  return {
    of: (principal: Principal, { consumer, client }: ReaderName, sessionId?: string): Reader => ({
      owner: ownerKey(principal),
      consumer: consumer === undefined ? (client === undefined ? "" : `mcp:${client}`) : `name:${consumer}`,
      sessionId,
    }),

    /**
     * Where this reader continues. An older `since` reads again. A `since` that no reader was given, as from another
     * database, is ignored.
     */
    async from(
      principal: Principal,
      reader: Reader,
      { since, beginning = "recent" }: { since?: number | undefined; beginning?: Beginning | undefined },
    ): Promise<ReadFrom> {
      const inAll = { ...reader, sessionId: undefined };
      const isNew = reader.sessionId !== undefined && !(await note(principal, inAll, beginning)).isKnown;
      const { position, isKnown, furthest } = await standing(principal, reader, beginning);
      const isGiven = since !== undefined && since <= (isKnown && !isNew ? position : furthest);
      return isGiven ? { since, isAgain: since < position } : { since: position, isAgain: false };
    },

    /** Notes that the reader was told of every end up to this position. */
    advance,

    /**
     * Notes that an answer other than a wait told this reader of the end of these turns. Returns the position up to
     * which the reader was told of every end.
     */
    async told(principal: Principal, name: ReaderName, turnIds: string[]): Promise<number> {
      const reader = this.of(principal, name);
      const { position } = await note(principal, reader, "unread");
      if (turnIds.length === 0) return position;
      const isTold = ({ turn }: EndedTurn) => turnIds.includes(turn.id);
      const unread = { since: position, reader, limit: MAX_AHEAD };
      const ahead = await storage.changes.ended({ owner: visibleOwner(principal) }, unread);
      const untold = ahead.findIndex((ended) => !isTold(ended));
      const reached = (untold < 0 ? ahead.at(-1) : ahead[untold - 1])?.changeId ?? position;
      await advance(reader, reached);
      // Turns after an end that was not told are noted for their session alone.
      const others = untold < 0 ? [] : ahead.slice(untold);
      for (const [index, ended] of others.entries()) {
        const isFirst = others.findIndex(({ turn }) => turn.sessionId === ended.turn.sessionId) === index;
        if (isFirst && isTold(ended)) await advance({ ...reader, sessionId: ended.turn.sessionId }, ended.changeId);
      }
      return reached;
    },
  };
}
