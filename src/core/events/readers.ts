import type { EndedTurn } from "../../storage/changes.ts";
import type { Reader } from "../../storage/readers.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal, tokenIdIn, visibleOwner } from "../access/principals.ts";

const HOUR_MS = 60 * 60_000;
/** Of what another reader of the same owner was told, a new one is told the newest: it may be the same agent, connected anew. */
const FIRST_TOLD = { withinMs: HOUR_MS, limit: 50 };
/** More than one owner has at work: those that were not used for the longest are forgotten, and begin like new ones. */
const MOST_OF_ONE = 1_000;
/** So far ahead is looked for turns that a caller was told of in another way. */
const MAX_AHEAD = 50;

/** Which of its readers a principal is: one by a name of its own, else its MCP client session, else the one without a name. */
export type ReaderName = { consumer?: string | undefined; client?: string | undefined };
/** Where to read on, and whether that repeats what the reader was told before. */
export type ReadFrom = { since: number; isAgain: boolean };

export type Readers = ReturnType<typeof createReaders>;
type ReadersNeed = { storage: Pick<Storage, "changes" | "readers">; now: () => number };

/** Up to where readers were told of the turns that ended, so that no end is lost between two calls of whatever tools. */
export function createReaders({ storage, now }: ReadersNeed) {
  function standing(principal: Principal, reader: Reader) {
    const first = { endedSince: now() - FIRST_TOLD.withinMs, limit: FIRST_TOLD.limit };
    return storage.readers.standing(reader, visibleOwner(principal), first);
  }

  function advance(reader: Reader, position: number): Promise<void> {
    const ownerToken = tokenIdIn(reader.owner);
    return storage.readers.advance(reader, position, { most: MOST_OF_ONE, ownerToken, now: now() });
  }

  /** Where this reader stands, which no other reader changes from now on. */
  async function note(principal: Principal, reader: Reader): Promise<{ position: number; isKnown: boolean }> {
    const { position, isKnown } = await standing(principal, reader);
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
     * Where this reader goes on. With an older `since` it reads again; with one that it was never given, which may come
     * from another database, it goes on as without.
     */
    async from(principal: Principal, reader: Reader, since: number | undefined): Promise<ReadFrom> {
      const inAll = { ...reader, sessionId: undefined };
      const isNew = reader.sessionId !== undefined && !(await note(principal, inAll)).isKnown;
      const { position, isKnown, furthest } = await standing(principal, reader);
      const isGiven = since !== undefined && since <= (isKnown && !isNew ? position : furthest);
      return isGiven ? { since, isAgain: since < position } : { since: position, isAgain: false };
    },

    /** The reader has been told of all that ended up to here. */
    advance,

    /** Notes that this reader was told of these turns in another way than by a wait; returns up to where it has been told of all. */
    async told(principal: Principal, name: ReaderName, turnIds: string[]): Promise<number> {
      const reader = this.of(principal, name);
      const { position } = await note(principal, reader);
      if (turnIds.length === 0) return position;
      const isTold = ({ turn }: EndedTurn) => turnIds.includes(turn.id);
      const unread = { since: position, reader, limit: MAX_AHEAD };
      const ahead = await storage.changes.ended({ owner: visibleOwner(principal) }, unread);
      const untold = ahead.findIndex((ended) => !isTold(ended));
      const reached = (untold < 0 ? ahead.at(-1) : ahead[untold - 1])?.changeId ?? position;
      await advance(reader, reached);
      // What lies behind something untold is noted for its session alone.
      const others = untold < 0 ? [] : ahead.slice(untold);
      for (const [index, ended] of others.entries()) {
        const isFirst = others.findIndex(({ turn }) => turn.sessionId === ended.turn.sessionId) === index;
        if (isFirst && isTold(ended)) await advance({ ...reader, sessionId: ended.turn.sessionId }, ended.changeId);
      }
      return reached;
    },
  };
}
