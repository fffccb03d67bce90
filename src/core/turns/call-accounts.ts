import type { ToolResultDraft, TurnEventDraft } from "../../claude/output/facts.ts";
import { isRefusedCall } from "../../claude/output/refused-call.ts";
import type { Storage } from "../../storage/storage.ts";
import type { OutputEvent, TurnRow } from "../../storage/turns.ts";
import { approvalAskedAgain } from "../approvals/asked-again.ts";
import type { Session } from "../sessions/sessions.ts";

/** Interprets the results of calls in a child's output. Storage finds the decision that belongs to each call. */
export async function interpreted(
  storage: Pick<Storage, "turns">,
  turnId: string,
  drafts: TurnEventDraft[],
): Promise<OutputEvent[]> {
  const toolNames = new Map<string, string>();
  const events: OutputEvent[] = [];
  for (const draft of drafts) {
    if (draft.type === "tool_use") toolNames.set(draft.tool_use_id, draft.tool_name);
    events.push(draft.type === "tool_result" ? await result(draft) : draft);
  }
  return events;

  /** Only an error can be a refusal. A stored call never changes, so it may be read outside the transaction. */
  async function result(draft: ToolResultDraft): Promise<OutputEvent> {
    if (!draft.is_error) return { ...draft, askedAgain: undefined, isRefused: false };
    const id = draft.tool_use_id;
    const toolName = toolNames.get(id) ?? (await storage.turns.toolUse(turnId, id))?.tool_name ?? "";
    return { ...draft, askedAgain: approvalAskedAgain(draft.output), isRefused: isRefusedCall(toolName, draft) };
  }
}

/**
 * Whether every call of this turn's child must ask. A child that an earlier version started may run some calls unasked.
 */
export function mustAsk(turn: TurnRow, { config }: Session): boolean {
  return turn.isAccounted && config?.loopback_enabled !== false;
}
