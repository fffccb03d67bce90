import { isSaved } from "../../claude/output/conversation-file.ts";
import { AppError } from "../../contract/errors.ts";
import type { TurnEvent, Usage } from "../../contract/sessions/turn.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { TurnEnd, TurnRow } from "../../storage/sqlite/turns/turns.ts";
import type { UnaskedCallRow } from "../../storage/sqlite/turns/unasked-calls.ts";
import type { Announce } from "../../storage/sqlite/writer.ts";
import { isRevoked, REVOKED_WHILE_QUEUED } from "../access/tokens.ts";
import type { Broadcast } from "../events/broadcast.ts";
import { type Head, headOf, say } from "../sessions/conversations.ts";
import type { Session } from "../sessions/sessions.ts";
import { accountFor } from "./call-accounts.ts";
import type { Batch, ChildEnd } from "./child-output.ts";
import { endIfQueued, type QueuedEnd } from "./queue/queued-end.ts";
import type { TurnQueue } from "./queue/turn-queue.ts";

/** A turn that was filed: it runs, or it is queued. */
export type Begun = { turn: TurnRow; session: Session; prompt: string };
/** How a turn has ended. */
export type Outcome = Pick<TurnEnd, "status" | "error">;

type TurnRecordNeed = {
  storage: Storage;
  broadcast: Broadcast;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  now: () => number;
  queue: TurnQueue;
  environment: Record<string, string | undefined>;
};

export type TurnRecord = ReturnType<typeof createTurnRecord>;

const BROKEN_SEAL =
  "A call of the child ran although Plexus had not allowed it (`plexus history --unasked` shows which). In strict supervision nothing may, so the child was stopped.";

/** What a turn leaves on disk: its beginning, what came of it, and its end, each one change. */
export function createTurnRecord({ storage, broadcast, abandon, now, queue, environment }: TurnRecordNeed) {
  /** Files a turn, which runs at once or is queued; a session has one at a time. */
  async function begin(
    known: Session,
    { id, prompt, ephemeral }: { id: string; prompt: string; ephemeral: boolean },
  ): Promise<Begun> {
    return storage.write((announce) => {
      // Read again here: a turn that has just ended may have moved the conversation on.
      const session = storage.sessions.get(known.id);
      if (!session) throw new AppError("not_found", `Session "${known.name}" was deleted.`);
      const { id: sessionId, owner } = session;
      if (isRevoked(storage, owner)) throw ownerRevoked(session.name);
      if (storage.turns.isBusy(sessionId)) throw turnRunning(session.name);
      const filed = { id, sessionId, owner, ephemeral, startedAt: now() };
      const start = queue.admits(filed);
      if (!start) {
        const turn = queue.file(filed, prompt);
        announce(storage.changes.append({ kind: "turn_queued", owner, sessionId, subjectId: id, at: now() }));
        return { turn, session, prompt };
      }
      const turn = storage.turns.createIfNoneRuns({ ...filed, isBorrowed: start.isBorrowed, reading: { offset: 0 } });
      if (!turn) throw turnRunning(session.name);
      open(announce, { turn, session, prompt });
      return { turn, session, prompt };
    });
  }

  /** A queued turn runs from now on; `undefined` when it is not its turn any more. */
  async function beginQueued(id: string): Promise<Begun | undefined> {
    return storage.write((announce) => {
      const next = queue.next();
      if (next?.id !== id) return undefined;
      const owner = storage.turns.get(id)?.owner ?? "";
      if (isRevoked(storage, owner)) {
        endIfQueued(storage, announce, id, { status: "cancelled", error: REVOKED_WHILE_QUEUED }, now());
        return undefined;
      }
      const started = storage.turns.startIfQueued(id, now(), next.isBorrowed);
      if (!started) return undefined;
      const session = storage.sessions.get(started.turn.sessionId);
      if (!session) throw new AppError("not_found", "The session of this turn was deleted.");
      open(announce, { ...started, session });
      return { ...started, session };
    });
  }

  /** The first event, and the prompt's place in the conversation. */
  function open(announce: Announce, { turn, session, prompt }: Begun): void {
    const { id, sessionId, owner, ephemeral } = turn;
    const head = headOf(session);
    const asked =
      head && !ephemeral && say(storage, head, { role: "user", content: { type: "text", text: prompt } }, now());
    if (asked) storage.sessions.setHead(sessionId, asked.node_id);
    storage.turns.appendIfRunning(id, [{ type: "start", id, user_position: asked ? asked.node_id : null }]);
    announce(storage.changes.append({ kind: "turn_started", owner, sessionId, subjectId: id, at: now() }));
    queue.noteStart(owner);
  }

  /** Ends a turn that no child was ever started for; `false` when it is not queued any more. */
  async function endQueued(id: string, end: QueuedEnd): Promise<boolean> {
    return storage.write((announce) => endIfQueued(storage, announce, id, end, now()));
  }

  /**
   * The events, the conversation and how far the output is read move on together. Tells which calls ran although
   * Plexus had not allowed them.
   */
  async function add(turn: TurnRow, { events, blocks, reading }: Batch): Promise<UnaskedCallRow[]> {
    const unasked = await storage.write((announce) => {
      const session = storage.sessions.get(turn.sessionId);
      if (!session) return [];
      const accounted = accountFor(storage, { turn, session, drafts: events, at: now() });
      if (events.length > 0) storage.turns.appendIfRunning(turn.id, accounted.events);
      const head = blocks.length > 0 && !turn.ephemeral ? headOf(session) : null;
      if (head) {
        const { node_id } = blocks.reduce((behind, block) => say(storage, behind, block, now()), head);
        storage.sessions.setHead(turn.sessionId, node_id);
      }
      storage.turns.setReading(turn.id, reading);
      for (const { id: subjectId, owner, sessionId, supervision, at } of accounted.unasked) {
        // Where settings of the user and the project apply, it is what was wanted.
        if (supervision === "inherit") continue;
        announce(storage.changes.append({ kind: "unasked_call", owner, sessionId, subjectId, at }));
      }
      return accounted.unasked;
    });
    broadcast.wake(turn.sessionId);
    return unasked;
  }

  /** The last event, the status, the conversation and the end of the turn's token. */
  async function end(turn: TurnRow, outcome: Outcome, ended: Partial<ChildEnd> = {}): Promise<void> {
    // Before the last event, so that the turn still tells what became of its asks.
    await abandon(storage.approvals.pendingIdsOf(turn.sessionId), "the child's turn is over");
    await storage.write((announce) => {
      const session = storage.sessions.get(turn.sessionId);
      if (!session) return;
      const usage = usageOf(ended, session);
      const claudeSessionId = conversationOf(ended);
      storage.turns.appendIfRunning(turn.id, [lastEvent(outcome, headOf(session), claudeSessionId, usage)]);
      if (!storage.turns.endIfRunning(turn.id, { ...outcome, usage, endedAt: now() })) return;
      const { owner, sessionId, id: subjectId } = turn;
      announce(storage.changes.append({ kind: "turn_ended", owner, sessionId, subjectId, at: now() }));
      storage.tokens.removeOfSession(sessionId);
      if (claudeSessionId && !turn.ephemeral) {
        // A conversation that could not even be resumed is told to have cost nothing.
        const totalCostUsd = Math.max(session.totalCostUsd, ended.result?.totalCostUsd ?? 0);
        storage.sessions.setConversation(sessionId, { claudeSessionId, totalCostUsd });
      }
    });
    broadcast.wake(turn.sessionId);
  }

  /** A child that was killed as it began, or failed to resume, has left nothing that a later turn could go on with. */
  function conversationOf({ init, result }: Partial<ChildEnd>): string | undefined {
    const id = result?.claudeSessionId ?? init?.claudeSessionId;
    const isKnownGood = result !== undefined && !result.is_error;
    return id && (isKnownGood || isSaved(id, environment)) ? id : undefined;
  }

  /** Why a child must not go on: in `strict` nothing may run unasked, so one that did has broken its seal. */
  function brokenSeal(turn: TurnRow): string | undefined {
    const isStrict = storage.sessions.get(turn.sessionId)?.config?.supervision === "strict";
    return isStrict && (storage.turns.get(turn.id)?.unasked ?? 0) > 0 ? BROKEN_SEAL : undefined;
  }

  return { begin, beginQueued, endQueued, add, end, brokenSeal };
}

function lastEvent(
  { status, error }: Outcome,
  new_head: Head | null,
  claude_session_id = "",
  usage: Usage | null,
): TurnEvent {
  if (status === "complete" && usage) return { type: "complete", new_head, claude_session_id, usage };
  return { type: "error", message: error ?? "The turn ended without a result." };
}

/** The CLI counts the cost of the whole conversation; a turn's own is what came on top. */
function usageOf({ result }: Partial<ChildEnd>, session: Session): Usage | null {
  if (!result) return null;
  return {
    input_tokens: result.inputTokens,
    output_tokens: result.outputTokens,
    cost_usd: Math.max(0, result.totalCostUsd - session.totalCostUsd),
    num_turns: result.numTurns,
  };
}

function turnRunning(name: string): AppError {
  return new AppError("turn_running", `Session "${name}" has a turn that runs or is queued: poll or cancel it first.`);
}

function ownerRevoked(name: string): AppError {
  const instead = "Fork it to go on with it: the fork is yours";
  return new AppError(
    "forbidden",
    `The token that made session "${name}" was revoked, so no turn starts in it. ${instead}.`,
  );
}
