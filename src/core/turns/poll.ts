import { cutText } from "../../contract/cut.ts";
import type { SessionStatus, TurnStatus, Usage } from "../../contract/sessions/turn.ts";
import type { Storage } from "../../storage/storage.ts";
import type { NumberedTurnEvent, TurnRow } from "../../storage/turns.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import { toApproval } from "../approvals/approval-view.ts";
import type { ApprovalList } from "../approvals/approvals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";

const MAX_PENDING_SHOWN = 100;
const SUMMARY_PAGE = 500;

type Poll = {
  /** The session's newest turn, of which it tells; none in a session that has had none. */
  turnId: string | undefined;
  status: SessionStatus;
  error: string | null;
  events: NumberedTurnEvent[];
  pending: ApprovalList;
  position: number;
  total: number;
};

export type Polls = ReturnType<typeof createPolls>;
type PollsNeed = { storage: Pick<Storage, "approvals" | "turns">; broadcast: Broadcast };

/** How a session's turns are read: by position, without polling, never stale. */
export function createPolls({ storage, broadcast }: PollsNeed) {
  async function statusOf(turn: TurnRow): Promise<TurnStatus> {
    if (turn.status !== "running") return turn.status;
    return (await storage.approvals.countPending(turn.sessionId)) > 0 ? "awaiting_permission" : "running";
  }

  async function read(
    session: Session,
    reader: { consumer: string; fromSeq: number | undefined; limit: number },
  ): Promise<Poll> {
    const found = await storage.turns.progress(session.id, { ...reader, maxPending: MAX_PENDING_SHOWN });
    const { turn, position, events } = found;
    const pending = { approvals: found.pending.rows.map(toApproval), hasMore: found.pending.hasMore };
    const isAsking = turn?.status === "running" && pending.approvals.length > 0;
    return {
      turnId: turn?.id,
      status: isAsking ? "awaiting_permission" : (turn?.status ?? "idle"),
      error: turn?.error ?? null,
      events,
      pending,
      position,
      total: turn?.eventCount ?? 0,
    };
  }

  return {
    statusOf,
    statusOfSession: async (sessionId: string): Promise<SessionStatus> => {
      const turn = await storage.turns.latest(sessionId);
      return turn ? statusOf(turn) : "idle";
    },
    latest: (sessionId: string): Promise<TurnRow | undefined> => storage.turns.latest(sessionId),
    /** Those of the caller's sessions, or of one, newest first. */
    list: (principal: Principal, sessionId: string | undefined, limit: number): Promise<TurnRow[]> =>
      storage.turns.list({ owner: visibleOwner(principal), sessionId }, limit),
    position: (turnId: string, consumer: string): Promise<number> => storage.turns.position(turnId, consumer),

    /** What the child has said in a turn, in head and tail where that is long, and what the turn has used. */
    async summary(turnId: string, maxChars: number): Promise<{ text: string; usage: Usage | null }> {
      let text = "";
      let usage: Usage | null = null;
      for (let from = 0; ; from += SUMMARY_PAGE) {
        const page = await storage.turns.events(turnId, from, SUMMARY_PAGE);
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
        const { consumer, fromSeq, limit } = options;
        const poll = await read(session, { consumer, fromSeq, limit });
        if (options.waitMs === 0 || over.aborted || isEnough(poll)) return poll;
        await Promise.race([waiter.woken(), timeUp]);
      }
    },

    /** Moves a reader on over what it was given of a turn. */
    async advance({ turnId, position: before }: Poll, consumer: string, position: number): Promise<void> {
      if (turnId !== undefined && position > before) await storage.turns.advance(turnId, consumer, position);
    },
  };
}

function isGoingOn(status: SessionStatus): boolean {
  return status === "queued" || status === "running" || status === "awaiting_permission";
}
