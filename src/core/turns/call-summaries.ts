import { isRefusedCall } from "../../claude/output/refused-call.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import { oneLine } from "../../contract/text/one-line.ts";
import type { JsonObject } from "../../contract/values.ts";
import { summaryOf } from "../../review/kinds.ts";
import type { ApprovalHead } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import type { NumberedTurnEvent } from "../../storage/turns.ts";

const MAX_INPUT_CHARS = 120;
const MAX_RESULT_CHARS = 120;
const MAX_NAME_CHARS = 100;
/** The call ran without a request. */
const UNASKED = "unasked";
const REFUSED = "refused by Claude Code";

/** One call of a child: its input, its decision and its result, each in a line. */
export type CallSummary = {
  /** The number of the call's first event. */
  seq: number;
  tool: string;
  /** The input with which the call ran or will run. */
  input: string;
  /** Who allowed or denied it; null while undecided. */
  decision: string | null;
  result: string | null;
};
type CallEvent = Extract<TurnEvent, { type: "tool_use" | "approval_requested" | "approval_resolved" | "tool_result" }>;
type ToolResult = Extract<TurnEvent, { type: "tool_result" }>;
type SummaryStorage = {
  approvals: Pick<Storage["approvals"], "edit" | "head">;
  turns: Pick<Storage["turns"], "toolUsesBefore">;
};

/** Whether an event belongs to a call. All others are the child's words, or housekeeping of the CLI. */
export function isOfCall(event: TurnEvent): event is CallEvent {
  return ["tool_use", "approval_requested", "approval_resolved", "tool_result"].includes(event.type);
}

/**
 * The calls in these events, in order. `toldAt` is the first of these events that belongs to the call; `seq` and input
 * come from the call itself, even if it was made before. `isAsking`: the child's calls come to Plexus.
 */
export async function callSummaries(
  storage: SummaryStorage,
  { turnId, isAsking }: { turnId: string; isAsking: boolean },
  events: NumberedTurnEvent[],
): Promise<{ toldAt: number; call: CallSummary }[]> {
  const calls: { toldAt: number; call: CallSummary }[] = [];
  /** The newest call of each id: a gateway may reuse ids. */
  const current = new Map<string, CallSummary>();
  const earlier = await earlierCalls();
  for (const { seq, event } of events) {
    if (!isOfCall(event)) continue;
    const call = callOf(seq, event);
    if (event.type === "approval_resolved") {
      call.decision = decisionText(event.status, event.resolved_by);
      if (event.updated_input) noteEdit(call, event.tool_name, { input: event.updated_input });
    }
    if (event.type !== "tool_result") continue;
    call.result = oneLine(event.is_error ? `error: ${event.output}` : event.output, MAX_RESULT_CHARS);
    const approval = event.approval_id === null ? undefined : await storage.approvals.head(event.approval_id);
    call.decision = isAsking ? (decisionOn(event, approval) ?? call.decision) : unsupervised(call, event);
    call.tool ||= oneLine(approval?.toolName ?? "", MAX_NAME_CHARS);
    if (!isAsking || !approval || approval.isBuiltin) continue;
    const edit = await storage.approvals.edit(approval.id);
    if (!edit?.updatedInput) continue;
    const removed = edit.inputCutAt === null ? {} : { input_removed_at: edit.inputCutAt };
    noteEdit(call, approval.toolName, { input: edit.updatedInput, ...removed });
  }
  return calls;

  function callOf(seq: number, event: CallEvent): CallSummary {
    const known = event.type === "tool_use" ? undefined : current.get(keyOf(event));
    if (known) return known;
    const before = event.type === "tool_use" ? undefined : earlier.get(keyOf(event));
    const call = before ? summarized(before.seq, before.event) : summarized(seq, event);
    current.set(keyOf(event), call);
    calls.push({ toldAt: seq, call });
    return call;
  }

  /** Calls that were made before these events and have events among them. */
  async function earlierCalls(): Promise<Map<string, { seq: number; event: CallEvent }>> {
    const made = new Set<string>();
    const wanted = new Set<string>();
    for (const { event } of events) {
      if (!isOfCall(event) || event.tool_use_id === null) continue;
      if (event.type === "tool_use") made.add(event.tool_use_id);
      else if (!made.has(event.tool_use_id)) wanted.add(event.tool_use_id);
    }
    const [first] = events;
    if (wanted.size === 0 || first === undefined) return new Map();
    const found = await storage.turns.toolUsesBefore(turnId, [...wanted], first.seq);
    const uses = found.toReversed().flatMap(({ seq, event }) => (isOfCall(event) ? [{ seq, event }] : []));
    return new Map(uses.map((use) => [keyOf(use.event), use]));
  }
}

/** The decision comes from the approval, since built-in rules record no event. */
function decisionOn(
  { approval_id, unasked, is_error }: ToolResult,
  approval: ApprovalHead | undefined,
): string | undefined {
  if (approval) return decisionText(approval.status, approval.resolvedBy ?? "") ?? undefined;
  if (approval_id !== null) return undefined;
  return is_error && !unasked ? REFUSED : UNASKED;
}

/** For a child that asks nobody: only the CLI's own output shows whether a call ran. */
function unsupervised({ tool }: CallSummary, result: ToolResult): string {
  return isRefusedCall(tool, result) ? REFUSED : UNASKED;
}

function summarized(seq: number, event: CallEvent): CallSummary {
  const tool = "tool_name" in event ? event.tool_name : "";
  const input = "input" in event ? summaryOf({ tool_name: tool, input: event.input }) : "";
  return {
    seq,
    tool: oneLine(tool, MAX_NAME_CHARS),
    input: oneLine(input, MAX_INPUT_CHARS),
    decision: null,
    result: null,
  };
}

/** Replaces the requested input by the edited one. */
function noteEdit(call: CallSummary, tool_name: string, ran: { input: JsonObject; input_removed_at?: number }): void {
  call.input = oneLine(summaryOf({ tool_name, ...ran }), MAX_INPUT_CHARS);
  call.decision = `${call.decision}, edited`;
}

function keyOf(event: CallEvent): string {
  return event.tool_use_id ?? ("approval_id" in event ? String(event.approval_id) : "");
}

/** An allowing rule is shown by its name alone. */
function decisionText(status: ApprovalHead["status"], resolvedBy: string): string | null {
  switch (status) {
    case "pending":
      return null;
    case "allowed":
      return /^(builtin|rule):/.test(resolvedBy) ? resolvedBy : `allowed by ${resolvedBy}`;
    case "denied":
      return `denied by ${resolvedBy}`;
    case "timed_out":
    case "abandoned":
      return status;
  }
}
