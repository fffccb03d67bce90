import type { ToolResultDraft, TurnEventDraft } from "../../claude/output/facts.ts";
import { isRefusedCall } from "../../claude/output/refused-call.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { TurnRow } from "../../storage/sqlite/turns/turns.ts";
import type { UnaskedCallRow } from "../../storage/sqlite/turns/unasked-calls.ts";
import { approvalAskedAgain } from "../approvals/asked-again.ts";
import type { Session } from "../sessions/sessions.ts";

type ToolUse = Extract<TurnEvent, { type: "tool_use" }>;
export type Accounted = { events: TurnEvent[]; unasked: UnaskedCallRow[] };

/**
 * Ties each result in a child's output to the decision on its call, and finds the calls that ran without one. An allow
 * accounts for one result: were the same call run twice, the second one would be unasked. Called inside a transaction.
 */
export function accountFor(
  storage: Storage,
  { turn, session, drafts, at }: { turn: TurnRow; session: Session; drafts: TurnEventDraft[]; at: number },
): Accounted {
  const unasked: UnaskedCallRow[] = [];
  const toolUses = new Map<string, ToolUse>();
  const events = drafts.map((draft): TurnEvent => {
    if (draft.type === "tool_use") toolUses.set(draft.tool_use_id, draft);
    return draft.type === "tool_result" ? result(draft) : draft;
  });
  for (const call of unasked) storage.unaskedCalls.add(call);
  return { events, unasked };

  function wasAskedAgain({ output, tool_use_id }: ToolResultDraft): boolean {
    const named = approvalAskedAgain(output);
    const approval = named === undefined ? undefined : storage.approvals.head(named);
    return approval?.approvalFromEvent === turn.id && approval.toolUseId === tool_use_id;
  }

  function result(draft: ToolResultDraft): TurnEvent {
    const call = { turnId: turn.id, toolUseId: draft.tool_use_id };
    // Of two calls of one id, the allow is for the other one.
    if (draft.is_error && wasAskedAgain(draft)) return { ...draft, approval_id: null };
    const approval = storage.approvals.takeResult(call, at);
    // What was not allowed, and fails, is the refusal that its child was told.
    if (approval && (approval.status === "allowed" || draft.is_error)) return { ...draft, approval_id: approval.id };
    const toolUse = toolUses.get(draft.tool_use_id) ?? storage.turns.toolUse(turn.id, draft.tool_use_id);
    // What an earlier version started was let do more unasked.
    if (!turn.isAccounted || !canAsk(session) || isRefusedCall(toolUse?.tool_name ?? "", draft))
      return { ...draft, approval_id: null };
    unasked.push({
      id: storage.newId(),
      turnId: turn.id,
      sessionId: session.id,
      sessionName: session.name,
      owner: session.owner,
      toolName: toolUse?.tool_name ?? "",
      toolUseId: draft.tool_use_id,
      input: toolUse?.input ?? {},
      supervision: session.config?.supervision ?? "inherit",
      at,
    });
    return { ...draft, approval_id: null, unasked: true };
  }
}

function canAsk({ config }: Session): boolean {
  return config?.loopback_enabled !== false;
}
