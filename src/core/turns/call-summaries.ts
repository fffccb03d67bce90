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
/** It ran, and nobody had been asked. */
const UNASKED = "unasked";
const REFUSED = "refused by Claude Code";

/** One call of a child in a line or two: what it was, what was decided, and what came of it. */
export type CallSummary = {
  /** The number of the call's first event. */
  seq: number;
  tool: string;
  /** With which it ran, or is to run. */
  input: string;
  /** Who let it run, or not; null as long as nobody has. */
  decision: string | null;
  result: string | null;
};
type CallEvent = Extract<TurnEvent, { type: "tool_use" | "approval_requested" | "approval_resolved" | "tool_result" }>;
type ToolResult = Extract<TurnEvent, { type: "tool_result" }>;
type SummaryStorage = {
  approvals: Pick<Storage["approvals"], "edit" | "head">;
  turns: Pick<Storage["turns"], "toolUsesBefore">;
};

/** Whether an event tells of a call; the rest is what the child says, and housekeeping of its CLI. */
export function isOfCall(event: TurnEvent): event is CallEvent {
  return ["tool_use", "approval_requested", "approval_resolved", "tool_result"].includes(event.type);
}

/**
 * The calls that these events of a turn are about, in order, each with the number of the first of them that tells of it;
 * of one that was made before, what it was. `isAsking`: the calls of this child come to Plexus.
 */
export async function callSummaries(
  storage: SummaryStorage,
  { turnId, isAsking }: { turnId: string; isAsking: boolean },
  events: NumberedTurnEvent[],
): Promise<{ toldAt: number; call: CallSummary }[]> {
  const calls: { toldAt: number; call: CallSummary }[] = [];
  /** By the id of the call; a gateway may number calls anew, so that the newest of an id counts. */
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

  /** What was called before these events, and is told of in them. */
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

/** Built-in rules make no event: the approval says what they have decided. */
function decisionOn(
  { approval_id, unasked, is_error }: ToolResult,
  approval: ApprovalHead | undefined,
): string | undefined {
  if (approval) return decisionText(approval.status, approval.resolvedBy ?? "") ?? undefined;
  if (approval_id !== null) return undefined;
  return is_error && !unasked ? REFUSED : UNASKED;
}

/** Of a child that asks nobody, whose calls have no accounts: what its CLI says of them tells whether they ran. */
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

/** It runs with this input, and not with the one that was asked about. */
function noteEdit(call: CallSummary, tool_name: string, ran: { input: JsonObject; input_removed_at?: number }): void {
  call.input = oneLine(summaryOf({ tool_name, ...ran }), MAX_INPUT_CHARS);
  call.decision = `${call.decision}, edited`;
}

function keyOf(event: CallEvent): string {
  return event.tool_use_id ?? ("approval_id" in event ? String(event.approval_id) : "");
}

/** A rule that allows says all by its name. */
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
