import { isSaved } from "../../claude/output/conversation-file.ts";
import { TURN_IS_OVER } from "../../storage/record/turn-record.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TurnEnd, TurnRow } from "../../storage/turns.ts";
import type { UnaskedCallRow } from "../../storage/unasked-calls.ts";
import type { Broadcast } from "../events/broadcast.ts";
import { interpreted, mustAsk } from "./call-accounts.ts";
import type { Batch, ChildEnd } from "./child-output.ts";
import type { TurnOutcome } from "./outcome.ts";

type TurnRecordNeed = {
  storage: Pick<Storage, "approvals" | "sessions" | "turns">;
  broadcast: Broadcast;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  now: () => number;
  environmentOf: (sessionId: string) => Record<string, string | undefined>;
};

const BROKEN_SEAL =
  "A call of the child ran although Plexus had not allowed it: it is on record as unasked. In strict supervision nothing may, so the child was stopped.";

/** Stores a turn's output and its end. */
export function createTurnRecord({ storage, broadcast, abandon, now, environmentOf }: TurnRecordNeed) {
  /** Stores new output; returns the calls that ran although Plexus had not allowed them. */
  async function add(turn: TurnRow, { events, blocks, checkpoint }: Batch): Promise<UnaskedCallRow[]> {
    const session = await storage.sessions.get(turn.sessionId);
    if (!session) return [];
    const output = {
      events: await interpreted(storage, turn.id, events),
      blocks,
      checkpoint,
      mustAsk: mustAsk(turn, session),
    };
    const unasked = await storage.turns.appendIfRunning(turn, output, now());
    broadcast.wake(turn.sessionId);
    return unasked;
  }

  async function end(turn: TurnRow, { status, error }: TurnOutcome, ended: Partial<ChildEnd> = {}): Promise<void> {
    // Abandon in batches first: `endIfRunning` abandons the few that remain in one transaction.
    await abandon(await storage.approvals.pendingIdsOf(turn.sessionId), TURN_IS_OVER);
    const end: TurnEnd = { status, error, counted: ended.result, claudeSessionId: conversationOf(turn, ended) };
    await storage.turns.endIfRunning(turn, end, now());
    broadcast.wake(turn.sessionId);
  }

  /** A child that was killed at its start or failed to resume leaves no conversation that a later turn could resume. */
  function conversationOf({ sessionId }: TurnRow, { init, result }: Partial<ChildEnd>): string | undefined {
    const id = result?.claudeSessionId ?? init?.claudeSessionId;
    const isKnownGood = result !== undefined && !result.is_error;
    return id && (isKnownGood || isSaved(id, environmentOf(sessionId))) ? id : undefined;
  }

  /** In `strict` no call may run unasked. Returns the reason to stop the child if one did. */
  async function brokenSeal(turn: TurnRow): Promise<string | undefined> {
    const session = await storage.sessions.get(turn.sessionId);
    if (session?.config?.supervision !== "strict") return undefined;
    return ((await storage.turns.get(turn.id))?.unasked ?? 0) > 0 ? BROKEN_SEAL : undefined;
  }

  return { add, end, brokenSeal };
}
