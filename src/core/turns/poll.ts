import { cutText } from "../../contract/cut.ts";
import type { SessionStatus, TurnStatus, Usage } from "../../contract/sessions/turn.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { NumberedTurnEvent, TurnRow } from "../../storage/sqlite/turns/turns.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import { toApproval } from "../approvals/approval-view.ts";
import type { ApprovalList } from "../approvals/approvals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";

const MAX_PENDING_SHOWN = 100;
const SUMMARY_PAGE = 500;

export type Poll = {
  status: SessionStatus;
  error: string | null;
  events: NumberedTurnEvent[];
  pending: ApprovalList;
  position: number;
  total: number;
};

export type TurnReading = ReturnType<typeof createTurnReading>;

/** How a session's turns are read: by position, without polling, never stale. */
export function createTurnReading({ storage, broadcast }: { storage: Storage; broadcast: Broadcast }) {
  function statusOf(turn: TurnRow): TurnStatus {
    if (turn.status !== "running") return turn.status;
    return storage.approvals.countPending(turn.sessionId) > 0 ? "awaiting_permission" : "running";
  }

  function read(session: Session, consumer: string, fromSeq: number | undefined, limit: number): Poll {
    const turn = storage.turns.latest(session.id);
    const { rows, hasMore } = storage.approvals.listPending({ sessionId: session.id }, MAX_PENDING_SHOWN);
    const pending = { approvals: rows.map(toApproval), hasMore };
    if (!turn) return { status: "idle", error: null, events: [], pending, position: 0, total: 0 };
    const position = storage.turns.position(turn.id, consumer);
    const events = storage.turns.events(turn.id, fromSeq ?? position, limit);
    return { status: statusOf(turn), error: turn.error, events, pending, position, total: turn.eventCount };
  }

  return {
    statusOf,
    statusOfSession: (sessionId: string): SessionStatus => {
      const turn = storage.turns.latest(sessionId);
      return turn ? statusOf(turn) : "idle";
    },
    latest: (sessionId: string): TurnRow | undefined => storage.turns.latest(sessionId),
    /** Those of the caller's sessions, or of one, newest first. */
    list: (principal: Principal, sessionId: string | undefined, limit: number): TurnRow[] =>
      storage.turns.list({ owner: visibleOwner(principal), sessionId }, limit),
    position: (turnId: string, consumer: string): number => storage.turns.position(turnId, consumer),

    /** What the child has said in a turn, in head and tail where that is long, and what the turn has used. */
    summary(turnId: string, maxChars: number): { text: string; usage: Usage | null } {
      let text = "";
      let usage: Usage | null = null;
      for (let from = 0; ; from += SUMMARY_PAGE) {
        const page = storage.turns.events(turnId, from, SUMMARY_PAGE);
        for (const { event } of page) {
          if (event.type === "content") text = cutText(text + event.text, 100 * maxChars);
          if (event.type === "complete") usage = event.usage;
        }
        if (page.length < SUMMARY_PAGE) return { text: cutText(text, maxChars), usage };
      }
    },

    /** Returns at once with what is new, else as soon as `isEnough` or when the time is up. */
    async poll(
      session: Session,
      options: {
        consumer: string;
        fromSeq?: number | undefined;
        limit: number;
        waitMs: number;
        signal: AbortSignal;
        isEnough?: (poll: Poll) => boolean;
      },
    ): Promise<Poll> {
      const { isEnough = (poll) => poll.events.length > 0 || !isGoingOn(poll.status) } = options;
      const over = AbortSignal.any([options.signal, AbortSignal.timeout(Math.max(0, options.waitMs))]);
      const timeUp = new Promise<void>((resolve) => over.addEventListener("abort", () => resolve(), { once: true }));
      using waiter = broadcast.waitFor(session.id);
      for (;;) {
        const poll = read(session, options.consumer, options.fromSeq, options.limit);
        if (options.waitMs === 0 || over.aborted || isEnough(poll)) return poll;
        await Promise.race([waiter.woken(), timeUp]);
      }
    },

    /** Moves a reader on over what it was given. */
    async advance(session: Session, consumer: string, position: number): Promise<void> {
      const turn = storage.turns.latest(session.id);
      if (turn && position > storage.turns.position(turn.id, consumer)) {
        await storage.write(() => storage.turns.advance(turn.id, consumer, position));
      }
    },
  };
}

export function isGoingOn(status: SessionStatus): boolean {
  return status === "queued" || status === "running" || status === "awaiting_permission";
}
