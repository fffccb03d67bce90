import { AppError } from "../../contract/refusals/errors.ts";
import type { SessionEvent } from "../../contract/sessions/session-view.ts";
import { seconds } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TimedTurnEvent, TurnRow } from "../../storage/turns.ts";
import { mayDecide, type Principal } from "../access/principals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";

const STREAM_PAGE = { limit: 200, maxBytes: 1024 * 1024 };
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const BEFORE_EVERY_TURN = "";

export type SessionStream = ReturnType<typeof createSessionStream>;
type SessionStreamNeed = { storage: Pick<Storage, "sessions" | "turns">; broadcast: Broadcast };
/** A reader's position: before this event of this turn. */
type StreamPosition = { turnId: string; seq: number };

/** Full events: a page of one turn, or a stream of a whole session. */
export function createSessionStream({ storage, broadcast }: SessionStreamNeed) {
  return {
    /** Returns a turn that the caller may see, else throws `not_found`. */
    async requireTurn(principal: Principal, turnId: string): Promise<TurnRow> {
      const turn = await storage.turns.get(turnId);
      if (turn && mayDecide(principal, turn.owner)) return turn;
      throw unknownTurn(turnId);
    },

    /** One page of events, from `fromSeq` on. */
    page: async (turn: TurnRow, fromSeq: number, limit: number) =>
      (await storage.turns.eventPage(turn.id, fromSeq, { limit, maxBytes: MAX_PAGE_BYTES })).map(told),

    /** The start of the given turn, else of the session's newest turn, else of its first future turn. */
    async beginning(session: Session, turnId: string | undefined): Promise<StreamPosition> {
      if (turnId === undefined) {
        const latest = await storage.turns.latest(session.id);
        return { turnId: latest?.id ?? BEFORE_EVERY_TURN, seq: 0 };
      }
      const turn = await storage.turns.get(turnId);
      if (turn?.sessionId !== session.id) throw unknownTurn(turnId);
      return { turnId, seq: 0 };
    },

    /** The position after an event that was already sent; `undefined` if the session has no such event. */
    async behind(session: Session, { turnId, seq }: StreamPosition): Promise<StreamPosition | undefined> {
      const turn = await storage.turns.get(turnId);
      return turn?.sessionId === session.id && seq < turn.eventCount ? { turnId, seq: seq + 1 } : undefined;
    },

    /**
     * Yields all events from a position on, turn by turn. Live: until the session is deleted; else up to the newest
     * event.
     */
    async *follow(
      session: Session,
      from: StreamPosition,
      { isLive, signal }: { isLive: boolean; signal: AbortSignal },
    ): AsyncGenerator<SessionEvent> {
      using waiter = broadcast.waitFor(session.id);
      const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      let { turnId, seq } = from;
      let next: TurnRow | undefined;
      while (!signal.aborted) {
        const page = await storage.turns.eventPage(turnId, seq, STREAM_PAGE);
        for (const numbered of page) {
          yield { turn_id: turnId, ...told(numbered) };
          seq = numbered.seq + 1;
        }
        if (page.length > 0) continue;
        if (next) {
          // The next turn only starts when this one is over, so everything of this turn has been read.
          [turnId, seq, next] = [next.id, 0, undefined];
          continue;
        }
        next = await storage.turns.firstAfter(session.id, turnId);
        if (next) continue;
        if (!isLive || !(await storage.sessions.get(session.id))) return;
        await Promise.race([waiter.woken(), gone]);
      }
    },
  };
}

function told({ seq, event, at }: TimedTurnEvent) {
  return { seq, ...(at !== null && { at: seconds(at) }), event };
}

function unknownTurn(id: string): AppError {
  return new AppError("not_found", `There is no turn ${id}.`);
}
