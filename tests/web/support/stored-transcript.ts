import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { newSession } from "../../storage/rows.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";

type Events = { prompt?: string | undefined; length: number; at: (seq: number) => TurnEvent };
type StoredTurn = { prompt?: string; events: TurnEvent[] };

/** Stores a finished turn with this many events. */
export function storeTranscript(dataDir: string, count: number): string {
  return storeEvents(dataDir, [{ length: count, at: eventAt }]).sessionId;
}

/** Stores a finished turn with these events after its start. */
export function storeTurn(dataDir: string, events: TurnEvent[], at = Date.now()): string {
  return storeTurns(dataDir, [{ events }], at).sessionId;
}

/** Stores finished turns, each with its events after its start. */
export function storeTurns(
  dataDir: string,
  turns: StoredTurn[],
  at = Date.now(),
): { sessionId: string; turnIds: string[] } {
  return storeEvents(
    dataDir,
    turns.map(({ prompt, events }) => ({
      prompt,
      length: events.length + 1,
      at: (seq) => events[seq - 1] ?? eventAt(0),
    })),
    at,
  );
}

function storeEvents(
  dataDir: string,
  turns: Events[],
  startedAt = Date.now(),
): { sessionId: string; turnIds: string[] } {
  using direct = openDirect(dataDir);
  const session = newSession({ name: "long", kind: "managed", createdAt: Date.now() });
  direct.sessions.create(session);
  const turnIds = turns.map((events) => {
    const turnId = Bun.randomUUIDv7();
    const position = events.prompt === undefined ? null : Bun.randomUUIDv7();
    if (position !== null)
      direct.nodes.add({
        id: position,
        treeId: session.id,
        parentId: null,
        role: "user",
        content: { type: "text", text: events.prompt },
        createdAt: startedAt,
      });
    const at = (seq: number): TurnEvent =>
      seq === 0 ? { type: "start", id: turnId, user_position: position } : events.at(seq);
    const turn = { id: turnId, sessionId: session.id, owner: "operator", ephemeral: false, startedAt };
    direct.turns.createIfNoneRuns({ ...turn, checkpoint: {} });
    const batch = 10_000;
    for (let from = 0; from < events.length; from += batch) {
      const some = Array.from({ length: Math.min(batch, events.length - from) }, (_, offset) => at(from + offset));
      direct.write(() => direct.turns.appendEventsIfRunning(turnId, some, startedAt));
    }
    const end = { status: "complete", error: null, usage: null, endedAt: Date.now() } as const;
    direct.turns.endIfRunning(turnId, end);
    return turnId;
  });
  return { sessionId: session.id, turnIds };
}

function eventAt(seq: number): TurnEvent {
  const id = `toolu_${seq}`;
  if (seq === 0) return { type: "start", id: "turn", user_position: null };
  if (seq % 3 === 0) return { type: "tool_use", tool_name: "Bash", tool_use_id: id, input: { command: `make ${seq}` } };
  if (seq % 3 === 1)
    return { type: "tool_result", tool_use_id: id, output: `line ${seq}.`, is_error: false, approval_id: null };
  return { type: "content", text: `line ${seq}.` };
}

const REQUEST = {
  approval_id: "0198a7c2-0000-7000-8000-000000000000",
  tool_name: "Bash",
  tool_use_id: "asked",
};

/** One event of each kind, with typical content. */
export const EVERY_KIND: TurnEvent[] = [
  { type: "thinking", thinking: "It may be in the cart." },
  {
    type: "content",
    text: "**Look:** `cart.ts` and [a link](https://example.com)\n\n```ts\nconst sum = 1;\n```\n\n- one\n",
  },
  {
    type: "tool_use",
    tool_name: "Bash",
    tool_use_id: "asked",
    input: { command: "ls | wc -l > out", description: "Count" },
  },
  { type: "approval_requested", ...REQUEST, input: {} },
  {
    type: "approval_resolved",
    ...REQUEST,
    status: "allowed",
    response_message: "fine",
    resolved_by: "operator",
    updated_input: { command: "ls" },
  },
  { type: "tool_result", tool_use_id: "asked", output: "3", is_error: false, approval_id: REQUEST.approval_id },
  {
    type: "tool_use",
    tool_name: "Edit",
    tool_use_id: "edit",
    input: { file_path: "/a.ts", old_string: "a", new_string: "b" },
  },
  { type: "tool_result", tool_use_id: "edit", output: "denied", is_error: true, approval_id: null },
  { type: "approval_resolved", ...REQUEST, status: "denied", response_message: null, resolved_by: "rule:0198a7c2" },
  {
    type: "tool_use",
    tool_name: "Agent",
    tool_use_id: "agent",
    input: { prompt: "Look *closely*.", description: "d" },
  },
  {
    type: "tool_use",
    tool_name: "mcp__shop__find",
    tool_use_id: "inner",
    input: { item: "tea" },
    parent_tool_use_id: "agent",
    agent: "Explore (look)",
  },
  {
    type: "tool_result",
    tool_use_id: "inner",
    output: "x".repeat(7_000),
    is_error: false,
    approval_id: null,
    unasked: true,
  },
  { type: "passthrough", event_type: "system/hook", data: { note: "of the CLI" } },
  {
    type: "complete",
    new_head: null,
    claude_session_id: "c",
    usage: { input_tokens: 1, output_tokens: 2, cost_usd: 0.1, num_turns: 1 },
  },
  { type: "error", message: "The turn was cancelled." },
];
