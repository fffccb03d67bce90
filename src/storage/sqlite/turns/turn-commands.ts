import { REVOKED_WHILE_QUEUED, startEvent, turnChange } from "../../record/turn-record.ts";
import type { Admission, BeginTurn, BegunTurn, NewTurn, QueueSize, TurnStorage } from "../../turns.ts";
import type { TokenQueries } from "../access/tokens.ts";
import type { ChangeQueries } from "../events/changes.ts";
import type { Conversation } from "../sessions/conversation.ts";
import type { SessionQueries } from "../sessions/sessions.ts";
import type { Announce, Write } from "../writer.ts";
import type { TurnQueue } from "./turn-queue.ts";
import type { TurnQueries } from "./turns.ts";

type TurnCommandsNeed = {
  write: Write;
  turns: TurnQueries;
  sessions: SessionQueries;
  tokens: TokenQueries;
  changes: ChangeQueries;
  queue: TurnQueue;
  conversation: Conversation;
  dataDirId: string;
};
type TurnCommands = Pick<
  TurnStorage,
  "begin" | "beginQueued" | "endIfQueued" | "endEveryQueued" | "stopElsewhere" | "setProcess" | "advance"
>;

/** Begins turns, at once or through the queue. */
export function turnCommands(need: TurnCommandsNeed): TurnCommands {
  const { write, turns, sessions, tokens, changes, queue, conversation, dataDirId } = need;

  function begin(announce: Announce, turn: NewTurn, admission: Admission): BeginTurn {
    // Read inside the transaction: a turn that has just ended may have extended the conversation.
    const session = sessions.get(turn.sessionId);
    if (!session) return { outcome: "no_session" };
    if (tokens.isRevoked(admission.ownerToken)) return { outcome: "owner_revoked" };
    const latest = turns.latest(session.id);
    if (latest?.endedAt === null) return { outcome: "busy" };
    // A session's newest turn is the one with the greatest id.
    if (latest && latest.id > turn.id) return { outcome: "outdated_id", latest: latest.id };
    const { prompt, ...filed } = { ...turn, owner: session.owner };
    const start = startOf(turn.id, admission);
    if (start === "unknown") return { outcome: "choose", queue: queue.state() };
    if (start === undefined) {
      const bytes = Buffer.byteLength(prompt);
      if (isOver(turns.queueSize(), bytes, admission.limits.inAll)) return { outcome: "queue_full" };
      if (isOver(turns.queueSize(filed.owner), bytes, admission.limits.ofOne)) return { outcome: "own_queue_full" };
      const queued = turns.createQueued({ ...filed, prompt });
      announce(changes.append(turnChange("turn_queued", queued, filed.startedAt)));
      queue.changed();
      return { outcome: "queued", turn: queued, session, prompt };
    }
    const running = turns.createIfNoneRuns({ ...filed, isBorrowed: start.isBorrowed });
    if (!running) return { outcome: "busy" };
    open(announce, { turn: running, session, prompt });
    return { outcome: "running", turn: running, session, prompt };
  }

  /** Returns how a new turn starts now; `undefined` if it must wait, "unknown" if the caller must choose first. */
  function startOf(id: string, { maxRunning, choice }: Admission): { isBorrowed: boolean } | undefined | "unknown" {
    if (!turns.isAnyQueued() && turns.countInSlots() < maxRunning) return { isBorrowed: false };
    if (choice === undefined) return "unknown";
    // Waiting is always safe, even by an old state: after every change, the queue is checked for turns that may start.
    if (choice.start?.id !== id) return undefined;
    return choice.version === queue.version() ? choice.start : "unknown";
  }

  /** Records the start: the first event, and the prompt's node in the conversation. */
  function open(announce: Announce, { turn, session, prompt }: BegunTurn): void {
    const asked = { role: "user", content: { type: "text", text: prompt } } as const;
    const position = turn.ephemeral ? null : conversation.say(session, [asked], turn.startedAt);
    turns.appendEventsIfRunning(turn.id, [startEvent(turn.id, position)], turn.startedAt);
    announce(changes.append(turnChange("turn_started", turn, turn.startedAt)));
    queue.noteStart(turn.owner);
    queue.changed();
  }

  return {
    begin: (turn, admission) => write((announce) => begin(announce, turn, admission)),
    beginQueued: ({ id, isBorrowed, version }, ownerToken, now) =>
      write((announce) => {
        if (version !== queue.version()) return { outcome: "moved" } as const;
        if (tokens.isRevoked(ownerToken)) {
          queue.endIfQueued(announce, id, REVOKED_WHILE_QUEUED, now);
          return { outcome: "owner_revoked" } as const;
        }
        const queued = turns.get(id);
        if (queued?.status !== "queued" || queued.dataDirId !== dataDirId) return { outcome: "moved" } as const;
        const session = sessions.get(queued.sessionId);
        if (!session) return { outcome: "no_session" } as const;
        const started = turns.startIfQueued(id, now, isBorrowed);
        if (!started) return { outcome: "moved" } as const;
        open(announce, { ...started, session });
        return { outcome: "running", ...started, session } as const;
      }),
    endIfQueued: (id, end, now) => write((announce) => queue.endIfQueued(announce, id, end, now)),
    endEveryQueued: (end, now) =>
      write((announce) => {
        for (const { id } of turns.listQueued()) queue.endIfQueued(announce, id, end, now);
      }),
    stopElsewhere: (id, reason) => write(() => turns.stopElsewhere(id, reason)),
    setProcess: (id, process) => write(() => turns.setProcess(id, process)),
    advance: (turnId, consumer, position) => write(() => turns.advance(turnId, consumer, position)),
  };
}

function isOver(size: QueueSize, bytes: number, most: QueueSize): boolean {
  return size.count >= most.count || size.bytes + bytes > most.bytes;
}
