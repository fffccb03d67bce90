import { describe, expect, test } from "bun:test";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { callSummaries } from "../../../src/core/turns/call-summaries.ts";
import { createPolls } from "../../../src/core/turns/poll.ts";
import type { ApprovalHead } from "../../../src/storage/approvals.ts";
import type { NumberedTurnEvent } from "../../../src/storage/turns.ts";
import {
  ANY_NUMBER,
  ANY_PENDING,
  builtinOutcome,
  newApproval,
  newSession,
  outcome,
  runningTurn,
  UNRULED,
} from "../../storage/rows.ts";
import { temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";

const use = (id: string, command = id): TurnEvent => ({
  type: "tool_use",
  tool_name: "Bash",
  tool_use_id: id,
  input: { command },
});
const result = (id: string, given: Partial<Extract<TurnEvent, { type: "tool_result" }>> = {}): TurnEvent => ({
  type: "tool_result",
  tool_use_id: id,
  output: `${id} done`,
  is_error: false,
  approval_id: null,
  ...given,
});
const asked = { tool_name: "Bash", approval_id: "approval" };
const requested = (id: string | null): TurnEvent => {
  return { type: "approval_requested", ...asked, tool_use_id: id, input: { command: "asked" } };
};
const resolved = (id: string | null, status: ApprovalHead["status"], resolved_by: string): TurnEvent => {
  return { type: "approval_resolved", ...asked, tool_use_id: id, status, response_message: null, resolved_by };
};

/** The summaries of `events` in a turn that has the events `before` first. */
async function summaries(events: TurnEvent[], { before = [] as TurnEvent[], isAsking = true } = {}) {
  await using storage = await temporaryStorage();
  const session = newSession();
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const turn = await runningTurn(storage, session);
  const ids = { rule: "builtin", person: "person" };
  for (const [id, resolvedBy] of [
    [ids.rule, "builtin:read"],
    [ids.person, "token:ci"],
  ] as const) {
    await storage.approvals.fileDecided(newApproval({ id }), { ...builtinOutcome(), resolvedBy }, UNRULED);
  }
  await storage.approvals.file(newApproval({ id: "edited" }), ANY_PENDING, UNRULED);
  const instead = outcome({ updatedInput: { command: "instead" } });
  await storage.approvals.settleIfPending("edited", instead, undefined);
  const output = { blocks: [], checkpoint: {}, mustAsk: false };
  const stored = [...before, ...events].map((event) =>
    event.type === "tool_result" ? { ...event, askedAgain: undefined, isRefused: false } : event,
  );
  await storage.turns.appendIfRunning(turn, { ...output, events: stored }, 1_000);
  const numbered: NumberedTurnEvent[] = events.map((event, at) => ({ seq: at + before.length + 1, event }));
  return (await callSummaries(storage, { turnId: turn.id, isAsking }, numbered)).map(({ call }) => call);
}

describe("a summary of calls", () => {
  test("has each call once, with its decision and its result", async () => {
    const calls = await summaries([
      use("one"),
      requested("one"),
      use("two"),
      resolved("one", "allowed", "operator"),
      result("one", { approval_id: "unknown" }),
      { type: "content", text: "noise" },
      { type: "passthrough", event_type: "system/status", data: {} },
    ]);
    expect(calls).toEqual([
      { seq: 1, tool: "Bash", input: "one", decision: "allowed by operator", result: "one done" },
      { seq: 3, tool: "Bash", input: "two", decision: null, result: null },
    ]);
  });

  test.each([
    ["allowed", "operator", "allowed by operator"],
    ["allowed", "builtin:read", "builtin:read"],
    ["allowed", "rule:7", "rule:7"],
    ["denied", "token:ci", "denied by token:ci"],
    ["denied", "rule:7", "denied by rule:7"],
    ["timed_out", "timeout", "timed_out"],
    ["abandoned", "plexus", "abandoned"],
  ] as const)("says of %s by %s: %s", async (status, by, decision) => {
    expect(await summaries([use("one"), resolved("one", status, by)])).toMatchObject([{ decision }]);
  });

  test("has the input with which an edited call ran, and says that it was edited", async () => {
    const edited = { ...resolved("one", "allowed", "operator"), updated_input: { command: "instead" } } as TurnEvent;
    const shown = { input: "instead", decision: "allowed by operator, edited" };
    expect(await summaries([use("one"), requested("one"), edited])).toMatchObject([shown]);
    // A reader that starts after the decision gets it from the approval.
    const before = [use("one"), requested("one")];
    const later = await summaries([result("one", { approval_id: "edited" })], { before });
    expect(later).toMatchObject([{ ...shown, result: "one done" }]);
  });

  test("takes a decision without an event from the approval, and names calls that ran or failed without one", async () => {
    const calls = await summaries([
      ...["builtin", "person", "unasked", "refused"].map((id) => use(id)),
      result("builtin", { approval_id: "builtin" }),
      result("person", { approval_id: "person" }),
      result("unasked", { unasked: true, is_error: true }),
      result("refused", { is_error: true, output: "no\nsuch tool" }),
    ]);
    expect(calls.map(({ decision }) => decision)).toEqual([
      "builtin:read",
      "allowed by token:ci",
      "unasked",
      "refused by Claude Code",
    ]);
    expect(calls.at(-1)?.result).toBe("error: no such tool");
  });

  test("of a child that asks nobody marks its calls as unasked, also failed ones", async () => {
    const calls = await summaries([use("one"), result("one", { is_error: true })], { isAsking: false });
    expect(calls).toMatchObject([{ decision: "unasked" }]);
  });

  test("of a child that asks nobody names the calls that Claude Code refused", async () => {
    const output = "Permission to use Bash has been denied.";
    const calls = await summaries([use("one"), result("one", { is_error: true, output })], { isAsking: false });
    expect(calls).toMatchObject([{ decision: "refused by Claude Code" }]);
  });

  test("shows an earlier call again, with its news and under its own number", async () => {
    const noise: TurnEvent[] = Array.from({ length: 50 }, () => ({ type: "content", text: "…" }));
    const before = [use("one", "the first"), use("one", "the second"), ...noise];
    const calls = await summaries([result("one")], { before });
    expect(calls).toEqual([{ seq: 2, tool: "Bash", input: "the second", decision: "unasked", result: "one done" }]);
  });

  test("keeps calls with the same id apart, and calls of which only the request is known", async () => {
    const calls = await summaries([
      use("call_0", "first"),
      result("call_0"),
      use("call_0", "second"),
      requested(null),
      resolved(null, "denied", "operator"),
      result("never called"),
    ]);
    expect(calls).toMatchObject([
      { input: "first", result: "call_0 done" },
      { input: "second", result: null },
      { tool: "Bash", input: "asked", decision: "denied by operator" },
      { tool: "", input: "", result: "never called done" },
    ]);
  });
});

test("a summary that does not fit ends before the next call, and leaves out everything after it", async () => {
  await using storage = await temporaryStorage();
  const session = newSession();
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const turn = await runningTurn(storage, session);
  const polls = createPolls({ storage, broadcast: createBroadcast() });
  const events: TurnEvent[] = [use("one"), { type: "content", text: "…" }, use("two"), result("one"), result("two")];
  const numbered = events.map((event, seq) => ({ seq, event }));
  const poll = { turnId: turn.id, events: numbered, status: "running", error: null, position: 0, total: 5 } as const;
  const pending = { approvals: [], hasMore: false };
  const most = { callChars: 100, textChars: 100 };
  const { calls, told } = await polls.summary(session, { ...poll, events: numbered, pending }, most);
  expect(calls).toMatchObject([{ input: "one", result: null }]);
  expect(told.map(({ seq }) => seq)).toEqual([0, 1]);
});
