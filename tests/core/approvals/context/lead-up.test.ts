import { describe, expect, test } from "bun:test";
import type { TurnEvent } from "../../../../src/contract/sessions/turn.ts";
import { createLeadUps } from "../../../../src/core/approvals/context/lead-up.ts";
import type { OutputEvent } from "../../../../src/storage/turns.ts";
import { ANY_NUMBER, ANY_PENDING, newApproval, newSession, runningTurn, UNRULED } from "../../../storage/rows.ts";
import { temporaryStorage } from "../../../storage/sqlite/support/temporary-storage.ts";

const said = (text: string): OutputEvent => ({ type: "content", text });
const call = (tool_use_id: string, given: Partial<Extract<TurnEvent, { type: "tool_use" }>> = {}): OutputEvent => ({
  type: "tool_use",
  tool_name: "Bash",
  tool_use_id,
  input: { command: "ls" },
  ...given,
});
const below = (parent_tool_use_id: string, text: string): OutputEvent => ({
  type: "passthrough",
  event_type: "subagent/text",
  data: { parent_tool_use_id, block: { type: "text", text } },
});
const result = (tool_use_id: string): OutputEvent => ({
  type: "tool_result",
  tool_use_id,
  output: "done",
  is_error: false,
  askedAgain: undefined,
  isRefused: true,
});
const noise: OutputEvent = { type: "passthrough", event_type: "system/task_progress", data: { description: "x" } };

/** The lead-up to a call that is requested after `events`; `after` arrives once it is requested. */
async function leadUpTo(tool_use_id: string | null, events: OutputEvent[], after: OutputEvent[] = []) {
  await using storage = await temporaryStorage();
  const session = newSession({ kind: "managed" });
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const turn = await runningTurn(storage, session);
  const tell = (told: OutputEvent[]) =>
    storage.turns.appendIfRunning(turn, { events: told, blocks: [], checkpoint: {}, mustAsk: false }, 2_000);
  await tell(events);
  const asked = newApproval({ id: storage.newId(), sessionId: session.id, isInTurn: true, toolUseId: tool_use_id });
  await storage.approvals.file(asked, ANY_PENDING, UNRULED);
  await tell(after);
  return await createLeadUps({ storage })({ id: asked.id, tool_use_id });
}

describe("what a child said before a request", () => {
  test("is its whole last message, in order", async () => {
    const events = [said("Long ago."), call("a"), result("a"), said("I look "), noise, said("there first."), call("b")];
    expect(await leadUpTo("b", events)).toEqual({ said: "I look there first." });
  });

  test("is given for every call of one message, however many were decided meanwhile", async () => {
    const calls = Array.from({ length: 60 }, (_, at) => `call-${at}`);
    const decided = calls.slice(0, -1).flatMap((id) => [noise, result(id)]);
    const events = [said("All at once."), ...calls.map((id) => call(id)), ...decided];
    expect(await leadUpTo("call-59", events)).toEqual({ said: "All at once." });
  });

  test("is the previous message's text if the message of the call has none", async () => {
    expect(await leadUpTo("b", [said("First."), call("a"), result("a"), call("b")])).toEqual({ said: "First." });
  });

  test("is the text of the call's own message, not of an earlier one", async () => {
    const events = [said("First."), call("a"), call("b"), result("a"), result("b"), said("Second."), call("c")];
    expect(await leadUpTo("c", events)).toEqual({ said: "Second." });
    expect(await leadUpTo("b", events)).toEqual({ said: "First." });
  });

  test("is complete although a subagent works meanwhile", async () => {
    const ofSubagent = { parent_tool_use_id: "toolu_agent" };
    const events = [said("I delegate."), call("toolu_agent"), said("And I "), call("s", ofSubagent), result("s")];
    expect(await leadUpTo("b", [...events, said("look, too."), call("b")])).toEqual({ said: "And I look, too." });
  });

  test("is cut if it is long, and left out if it is blank", async () => {
    const { said: long = "" } = await leadUpTo("a", [said("x".repeat(5_000)), call("a")]);
    expect(long.length).toBeWithin(200, 301);
    expect(long).toContain("of 5000 characters left out");
    expect(await leadUpTo("a", [said("  \n "), call("a")])).toEqual({});
  });

  test("is left out if the call is not on record: another speaker's words would mislead", async () => {
    expect(await leadUpTo("other", [said("Words."), call("a")])).toEqual({});
    expect(await leadUpTo(null, [said("Words."), call("a")])).toEqual({});
  });

  test("is found if the line of the call arrives after the request", async () => {
    expect(await leadUpTo("a", [said("Soon.")], [noise, call("a"), said("Later.")])).toEqual({ said: "Soon." });
  });

  test("belongs to the newest call before the request if an id is reused", async () => {
    const events = [said("One."), call("call_0"), result("call_0"), said("Two."), call("call_0")];
    expect(await leadUpTo("call_0", events, [said("Three."), call("call_0")])).toEqual({ said: "Two." });
  });

  test("ignores long events and later ones", async () => {
    const long = said("y".repeat(200_000));
    const later = Array.from({ length: 3_000 }, () => said("later"));
    expect(await leadUpTo("a", [long, said("Short."), call("a")], later)).toEqual({ said: "Short." });
  });
});

describe("a subagent's request", () => {
  const parent_tool_use_id = "toolu_agent";

  test("names the subagent, and has only that subagent's words", async () => {
    const events = [
      said("I delegate."),
      call("toolu_agent", { tool_name: "Agent" }),
      below("toolu_agent", "I begin."),
      below("toolu_other", "Not me."),
      said("Meanwhile I rest."),
      call("a", { parent_tool_use_id, agent: "Explore (find it)" }),
    ];
    expect(await leadUpTo("a", events)).toEqual({ said: "I begin.", agent: "Explore (find it)" });
  });

  test("is marked as a subagent's even if the subagent has no name and said nothing", async () => {
    expect(await leadUpTo("a", [said("Mine."), call("a", { parent_tool_use_id })])).toEqual({ agent: "a subagent" });
  });
});

describe("the plan of ExitPlanMode", () => {
  test("is the plan of the call's own input", async () => {
    const plan = (id: string, text: unknown) => call(id, { tool_name: "ExitPlanMode", input: { plan: text } });
    expect(await leadUpTo("b", [plan("a", "# Old"), said("Ready."), plan("b", "# New")])).toEqual({
      said: "Ready.",
      plan: "# New",
    });
    expect(await leadUpTo("a", [plan("a", { not: "text" })])).toEqual({});
  });

  test("is never taken from another tool", async () => {
    expect(await leadUpTo("a", [call("a", { input: { plan: "# Mine" } })])).toEqual({});
  });
});
