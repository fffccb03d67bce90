import type { Change } from "../../contract/change.ts";
import type { TurnEvent, Usage } from "../../contract/sessions/turn.ts";
import { dollars } from "../../contract/values.ts";
import type { SessionRow } from "../sessions.ts";
import type { QueuedTurnEnd, TurnEnd, TurnRow } from "../turns.ts";

/** The reason on requests that are abandoned because their turn ended. */
export const TURN_IS_OVER = "the child's turn is over";

/** The end of a queued turn whose owner was revoked. */
export const REVOKED_WHILE_QUEUED: QueuedTurnEnd = {
  status: "cancelled",
  error: "The token that this turn belongs to was revoked while it was queued.",
};

export function turnChange(
  kind: "turn_queued" | "turn_started" | "turn_ended",
  { id, owner, sessionId }: Pick<TurnRow, "id" | "owner" | "sessionId">,
  at: number,
): Omit<Change, "id"> {
  return { kind, owner, sessionId, subjectId: id, at };
}

/** `userPosition` is the prompt's node in the conversation, or null if it has none. */
export function startEvent(id: string, userPosition: string | null): TurnEvent {
  return { type: "start", id, user_position: userPosition };
}

export function lastEvent(
  { status, error, claudeSessionId = "" }: TurnEnd,
  { treeId, headNodeId }: SessionRow,
  usage: Usage | null,
): TurnEvent {
  const new_head = treeId && headNodeId ? { tree_id: treeId, node_id: headNodeId } : null;
  if (status === "complete" && usage) return { type: "complete", new_head, claude_session_id: claudeSessionId, usage };
  return { type: "error", message: error ?? "The turn ended without a result." };
}

/**
 * The CLI reports the cost of the whole conversation, including its cost before a fork; the turn's own cost is the
 * difference.
 */
export function usageOf({ counted }: TurnEnd, { totalCostUsd }: SessionRow): Usage | null {
  if (!counted) return null;
  return {
    input_tokens: counted.inputTokens,
    output_tokens: counted.outputTokens,
    cost_usd: dollars(Math.max(0, counted.totalCostUsd - (counted.costBeforeUsd ?? totalCostUsd))),
    num_turns: counted.numTurns,
  };
}

/** Returns the cost of an earlier, killed turn: the CLI reports it with the next turn of the same conversation. */
export function untoldCost({ counted }: TurnEnd, { claudeSessionId, totalCostUsd }: SessionRow): number {
  if (claudeSessionId === null) return 0;
  return Math.max(0, (counted?.costBeforeUsd ?? totalCostUsd) - totalCostUsd);
}

/** The CLI reports no cost for a conversation that it couldn't resume, so the total never decreases. */
export function totalCostAfter({ counted }: TurnEnd, { totalCostUsd }: SessionRow): number {
  return Math.max(totalCostUsd, counted?.totalCostUsd ?? 0);
}
