import { AppError } from "../../contract/errors.ts";
import type { SessionEvent } from "../../contract/sessions/session-view.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { NumberedTurnEvent, TurnRow } from "../../storage/sqlite/turns/turns.ts";
import { mayDecide, type Principal } from "../access/principals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";

const STREAM_PAGE = { limit: 200, maxBytes: 1024 * 1024 };
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const BEFORE_EVERY_TURN = "";

export type TurnStream = ReturnType<typeof createTurnStream>;
/** Where a reader of a session stands: before this event of this turn. */
export type StreamPosition = { turnId: string; seq: number };

/** The events of turns, in full: a page of one turn, or a session's as they come. */
export function createTurnStream({ storage, broadcast }: { storage: Storage; broadcast: Broadcast }) {
  return {
    /** A turn that the caller may see. */
    requireTurn(principal: Principal, turnId: string): TurnRow {
      const turn = storage.turns.get(turnId);
      if (turn && mayDecide(principal, turn.owner)) return turn;
      throw unknownTurn(turnId);
    },

    /** As many events from `fromSeq` on as a page holds. */
    page: (turn: TurnRow, fromSeq: number, limit: number): NumberedTurnEvent[] =>
      storage.turns.eventPage(turn.id, fromSeq, { limit, maxBytes: MAX_PAGE_BYTES }),

    /** The beginning of this turn of the session, else of its newest one, else of the first one to come. */
    beginning(session: Session, turnId: string | undefined): StreamPosition {
      if (turnId === undefined) return { turnId: storage.turns.latest(session.id)?.id ?? BEFORE_EVERY_TURN, seq: 0 };
      if (storage.turns.get(turnId)?.sessionId !== session.id) throw unknownTurn(turnId);
      return { turnId, seq: 0 };
    },

    /** Right behind an event that was told before; `undefined` when there is no such event in this session. */
    behind(session: Session, { turnId, seq }: StreamPosition): StreamPosition | undefined {
      const turn = storage.turns.get(turnId);
      return turn?.sessionId === session.id && seq < turn.eventCount ? { turnId, seq: seq + 1 } : undefined;
    },

    /** Everything from a position on, turn after turn, in order; live until the session is deleted, else as far as it goes. */
    async *follow(
      session: Session,
      from: StreamPosition,
      { isLive, signal }: { isLive: boolean; signal: AbortSignal },
    ): AsyncGenerator<SessionEvent> {
      using waiter = broadcast.waitFor(session.id);
      const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      let { turnId, seq } = from;
      while (!signal.aborted) {
        const page = storage.turns.eventPage(turnId, seq, STREAM_PAGE);
        for (const numbered of page) {
          yield { turn_id: turnId, ...numbered };
          seq = numbered.seq + 1;
        }
        if (page.length > 0) continue;
        // A turn is followed by another only when it is over, so that nothing of it can come any more.
        const next = storage.turns.firstAfter(session.id, turnId);
        if (next) [turnId, seq] = [next.id, 0];
        else if (!isLive || !storage.sessions.get(session.id)) return;
        else await Promise.race([waiter.woken(), gone]);
      }
    },
  };
}

function unknownTurn(id: string): AppError {
  return new AppError("not_found", `There is no turn ${id}.`);
}
