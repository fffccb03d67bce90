import type { SessionStatus, TurnStatus, Usage } from "../../contract/sessions/turn.ts";
import { fitting, listedChars } from "../../contract/text/fit.ts";
import { MAX_CONSUMER_CHARS } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import type { NumberedTurnEvent, TurnRow } from "../../storage/turns.ts";
import { ownerKey, type Principal, visibleOwner } from "../access/principals.ts";
import { toApproval } from "../approvals/approval-view.ts";
import type { ApprovalList } from "../approvals/approvals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";
import { callSummaries, isOfCall } from "./call-summaries.ts";
import { lastMessage } from "./last-message.ts";

const MAX_PENDING_SHOWN = 100;
/** The most bytes of events that one poll reads. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

type Poll = {
  /** The session's newest turn; undefined in a session without turns. */
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

/** Reads a session's events by position; waits on the broadcast instead of polling the database. */
export function createPolls({ storage, broadcast }: PollsNeed) {
  async function statusOf(turn: TurnRow): Promise<TurnStatus> {
    if (turn.status !== "running") return turn.status;
    return (await storage.approvals.countPending(turn.sessionId)) > 0 ? "awaiting_permission" : "running";
  }

  async function read(
    session: Session,
    reader: { consumer: string; fromSeq: number | undefined; limit: number },
  ): Promise<Poll> {
    const most = { maxBytes: MAX_READ_BYTES, maxPending: MAX_PENDING_SHOWN };
    const found = await storage.turns.progress(session.id, { ...reader, ...most });
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
    /** The turns of the caller's sessions, or of one session, newest first. */
    list: (principal: Principal, sessionId: string | undefined, limit: number): Promise<TurnRow[]> =>
      storage.turns.list({ owner: visibleOwner(principal), sessionId }, limit),
    consumerOf,
    position: (turnId: string, consumer: string): Promise<number> => storage.turns.position(turnId, consumer),

    /** The child's last message, cut to head and tail if it is long, and the usage once the turn is over. */
    async result(turnId: string, maxChars: number): Promise<{ text: string; usage: Usage | null }> {
      const usage = (await storage.turns.get(turnId))?.usage ?? null;
      return { text: await lastMessage(storage, turnId, maxChars), usage };
    },

    /** Returns at once if there is news, else as soon as `isEnough` holds or the time is up. */
    async poll(
      session: Session,
      options: {
        consumer: string;
        fromSeq?: number | undefined;
        limit: number;
        waitMs: number;
        signal: AbortSignal;
        isEnough?: (poll: Poll) => boolean;
        /** Called once before the poll waits, with what was read so far. */
        onBegun?: (poll: Poll) => void;
      },
    ): Promise<Poll> {
      const { isEnough = (poll) => poll.events.length > 0 || !isGoingOn(poll.status) } = options;
      const { consumer, fromSeq, limit, signal, waitMs } = options;
      const timeUp = Promise.withResolvers<void>();
      let isOver = signal.aborted || waitMs <= 0;
      let { onBegun } = options;
      const finish = () => {
        isOver = true;
        timeUp.resolve();
      };
      using cleanup = new DisposableStack();
      const waiter = cleanup.use(broadcast.waitFor(session.id));
      cleanup.adopt(setTimeout(finish, waitMs), clearTimeout);
      signal.addEventListener("abort", finish);
      cleanup.defer(() => signal.removeEventListener("abort", finish));
      for (;;) {
        const poll = await read(session, { consumer, fromSeq, limit });
        if (isOver || isEnough(poll)) return poll;
        onBegun?.(poll);
        onBegun = undefined;
        await Promise.race([waiter.woken(), timeUp.promise]);
      }
    },

    /** Whether a poll has news for a reader of calls. The child's words alone do not wake that reader. */
    hasNewsOfCalls: ({ events, status, total }: Poll): boolean => {
      const isPage = events.length > 0 && (events.at(-1)?.seq ?? 0) + 1 < total;
      return isPage || !isGoingOn(status) || events.some(({ event }) => isOfCall(event));
    },

    /**
     * As many of the polled calls as fit, the events they cover, and the child's last message: always for a turn that
     * has ended, else only if it is new.
     */
    async summary(session: Session, { turnId, events, status }: Poll, most: { callChars: number; textChars: number }) {
      if (turnId === undefined) return { calls: [], told: [], text: "" };
      const of = { turnId, isAsking: session.config?.loopback_enabled !== false };
      const found = await callSummaries(storage, of, events);
      const { length } = fitting(found, most.callChars, ({ call }) => listedChars(call));
      const end = found[length]?.toldAt ?? Number.POSITIVE_INFINITY;
      const told = events.filter(({ seq }) => seq < end);
      // Later events may add to these calls; they belong to the next poll.
      const calls = length === found.length ? found : await callSummaries(storage, of, told);
      const isNew = told.some(({ event }) => event.type === "content");
      const text = isNew || !isGoingOn(status) ? await lastMessage(storage, turnId, most.textChars) : "";
      return { calls: calls.map(({ call }) => call), told, text };
    },

    /** Moves a reader's position past the events that it got. */
    async advance({ turnId, position: before }: Poll, consumer: string, position: number): Promise<void> {
      if (turnId !== undefined && position > before) await storage.turns.advance(turnId, consumer, position);
    },
  };
}

/**
 * The name under which a reader's position is stored. The session's owner uses its names as given. Any other principal
 * gets a prefix longer than any name that a caller can give, so names never collide.
 */
function consumerOf(principal: Principal, owner: string, name = ""): string {
  const key = ownerKey(principal);
  return key === owner ? name : `${key}:`.padEnd(MAX_CONSUMER_CHARS + 1) + name;
}

function isGoingOn(status: SessionStatus): boolean {
  return status === "queued" || status === "running" || status === "awaiting_permission";
}
