import type { TurnEvent } from "../../../contract/sessions/turn.ts";
import { accountOf, resultEvent, unaskedCall, unaskedChange } from "../../record/call-accounts.ts";
import { lastEvent, TURN_IS_OVER, totalCostAfter, turnChange, untoldCost, usageOf } from "../../record/turn-record.ts";
import type { SessionRow } from "../../sessions.ts";
import type { Output, OutputResult, ToolUseEvent, TurnRow, TurnStorage } from "../../turns.ts";
import type { UnaskedCallRow } from "../../unasked-calls.ts";
import type { TokenQueries } from "../access/tokens.ts";
import type { ActivityQueries } from "../activity/activity.ts";
import type { ApprovalQueries } from "../approvals/approvals.ts";
import type { Settle } from "../approvals/settle.ts";
import type { UsedApprovalQueries } from "../approvals/used-approvals.ts";
import type { ChangeQueries } from "../events/changes.ts";
import type { Conversation } from "../sessions/conversation.ts";
import type { SessionQueries } from "../sessions/sessions.ts";
import type { Write } from "../writer.ts";
import type { TurnQueue } from "./turn-queue.ts";
import type { TurnQueries } from "./turns.ts";
import type { UnaskedCallQueries } from "./unasked-calls.ts";

type OutputCommandsNeed = {
  write: Write;
  turns: TurnQueries;
  sessions: SessionQueries;
  tokens: TokenQueries;
  approvals: ApprovalQueries;
  used: UsedApprovalQueries;
  unaskedCalls: UnaskedCallQueries;
  activity: ActivityQueries;
  changes: ChangeQueries;
  queue: TurnQueue;
  conversation: Conversation;
  settle: Settle;
  newId: () => string;
};

/** Stores a turn's output, and its end. */
export function outputCommands(need: OutputCommandsNeed): Pick<TurnStorage, "appendIfRunning" | "endIfRunning"> {
  const { write, turns, sessions, tokens, approvals, used, unaskedCalls, changes, queue, conversation, settle } = need;
  const { activity } = need;

  /** Ties each result to the decision on its call, and collects the calls that ran without one. */
  function accountFor(turn: TurnRow, session: SessionRow, { events, mustAsk }: Output, now: number) {
    const unasked: UnaskedCallRow[] = [];
    const toolUses = new Map<string, ToolUseEvent>();
    const accounted = events.map((event): TurnEvent => {
      if (event.type === "tool_use") toolUses.set(event.tool_use_id, event);
      if (event.type !== "tool_result") return event;
      const toolUseId = event.tool_use_id;
      // Two calls have this id, and the other one got the allow.
      if (wasAskedAgain(turn, event)) return resultEvent(event, { kind: "none" });
      const account = accountOf(event, used.takeResult({ turnId: turn.id, toolUseId }, now), mustAsk);
      if (account.kind === "unasked") {
        const toolUse = toolUses.get(toolUseId) ?? turns.toolUse(turn.id, toolUseId);
        unasked.push(unaskedCall(need.newId(), { toolUseId, toolUse, turn, session, at: now }));
      }
      return resultEvent(event, account);
    });
    return { accounted, unasked };
  }

  function wasAskedAgain(turn: TurnRow, { askedAgain, tool_use_id }: OutputResult): boolean {
    const approval = askedAgain === undefined ? undefined : approvals.head(askedAgain);
    return approval?.askedIn === turn.id && approval.toolUseId === tool_use_id;
  }

  return {
    appendIfRunning: (turn, output, now) =>
      write((announce) => {
        const session = turns.get(turn.id)?.status === "running" ? sessions.get(turn.sessionId) : undefined;
        if (!session) return [];
        const { accounted, unasked } = accountFor(turn, session, output, now);
        for (const call of unasked) unaskedCalls.add(call);
        if (accounted.length > 0) turns.appendEventsIfRunning(turn.id, accounted, now);
        if (!turn.ephemeral) conversation.say(session, output.blocks, now);
        turns.setCheckpoint(turn.id, output.checkpoint);
        for (const call of unasked) {
          const change = unaskedChange(call);
          if (!change) continue;
          announce(changes.append(change));
          activity.unasked(session, now);
        }
        return unasked;
      }),
    endIfRunning: (turn, end, now) =>
      write((announce) => {
        const session = turns.get(turn.id)?.status === "running" ? sessions.get(turn.sessionId) : undefined;
        if (!session) return;
        // This comes before the last event, so that the turn's events include the end of its requests.
        for (const id of approvals.pendingIdsOf(session.id)) settle.abandon(announce, id, TURN_IS_OVER, now);
        const usage = usageOf(end, session);
        const { status, error, claudeSessionId } = end;
        turns.appendEventsIfRunning(turn.id, [lastEvent(end, session, usage)], now);
        turns.endIfRunning(turn.id, { status, error, usage, endedAt: now });
        announce(changes.append(turnChange("turn_ended", turn, now)));
        queue.changed();
        tokens.removeOfSession(session.id);
        const goesOn = claudeSessionId !== undefined && !turn.ephemeral;
        const costUsd = (usage?.cost_usd ?? 0) + (goesOn ? untoldCost(end, session) : 0);
        sessions.addCost(session.id, costUsd);
        const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0 } = usage ?? {};
        activity.turnEnded(session, status, { costUsd, inputTokens, outputTokens }, now);
        if (goesOn)
          sessions.setConversation(session.id, { claudeSessionId, totalCostUsd: totalCostAfter(end, session) });
        // Settings changed during the turn apply to the next one.
        if (session.nextConfig) sessions.set(session.id, { config: session.nextConfig, nextConfig: null });
      }),
  };
}
