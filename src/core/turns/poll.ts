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
/** More events than that at once no reader is told. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

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
    /** Those of the caller's sessions, or of one, newest first. */
    list: (principal: Principal, sessionId: string | undefined, limit: number): Promise<TurnRow[]> =>
      storage.turns.list({ owner: visibleOwner(principal), sessionId }, limit),
    consumerOf,
    position: (turnId: string, consumer: string): Promise<number> => storage.turns.position(turnId, consumer),

    /** The child's last message in a turn, in head and tail where that is long, and what the turn has used, once it is over. */
    async result(turnId: string, maxChars: number): Promise<{ text: string; usage: Usage | null }> {
      const usage = (await storage.turns.get(turnId))?.usage ?? null;
      return { text: await lastMessage(storage, turnId, maxChars), usage };
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
        /** Told what was read before it waits, if it has to. */
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

    /** Whether a poll has something for who wants to know of calls alone; what a child says meanwhile does not wake them. */
    hasNewsOfCalls: ({ events, status, total }: Poll): boolean => {
      const isPage = events.length > 0 && (events.at(-1)?.seq ?? 0) + 1 < total;
      return isPage || !isGoingOn(status) || events.some(({ event }) => isOfCall(event));
    },

    /**
     * The calls in what was polled, as many as fit, up to which event that tells, and the child's last message: of a turn
     * that goes on if it is new, of one that has ended always, since that is its result.
     */
    async summary(session: Session, { turnId, events, status }: Poll, most: { callChars: number; textChars: number }) {
      if (turnId === undefined) return { calls: [], told: [], text: "" };
      const of = { turnId, isAsking: session.config?.loopback_enabled !== false };
      const found = await callSummaries(storage, of, events);
      const { length } = fitting(found, most.callChars, ({ call }) => listedChars(call));
      const end = found[length]?.toldAt ?? Number.POSITIVE_INFINITY;
      const told = events.filter(({ seq }) => seq < end);
      // What comes later tells more of the calls before it, and is for the next time.
      const calls = length === found.length ? found : await callSummaries(storage, of, told);
      const isNew = told.some(({ event }) => event.type === "content");
      const text = isNew || !isGoingOn(status) ? await lastMessage(storage, turnId, most.textChars) : "";
      return { calls: calls.map(({ call }) => call), told, text };
    },

    /** Moves a reader on over what it was given of a turn. */
    async advance({ turnId, position: before }: Poll, consumer: string, position: number): Promise<void> {
      if (turnId !== undefined && position > before) await storage.turns.advance(turnId, consumer, position);
    },
  };
}

/**
 * Under what name the position of a reader is kept: whoever owns the session has the names that it gives, as ever; anybody
 * else who may read it has its own, which are longer than any that can be given.
 */
function consumerOf(principal: Principal, owner: string, name = ""): string {
  const key = ownerKey(principal);
  return key === owner ? name : `${key}:`.padEnd(MAX_CONSUMER_CHARS + 1) + name;
}

function isGoingOn(status: SessionStatus): boolean {
  return status === "queued" || status === "running" || status === "awaiting_permission";
}
