import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { script } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, startFamily, textOf } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

const WHY = "Stop: this is the wrong branch.";

describe("a denial that interrupts ends the turn as cancelled", () => {
  test("with its message as the error, counts what the turn has cost, and leaves the session to go on", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    await family.start("worker", [{ use: [bash("touch never")] }, { say: "never said" }]);
    await family.respond(await family.ask(id), { approve: false, message: WHY, interrupt: true });
    const { status, events, last } = await family.ended("worker");
    expect({ status, last }).toEqual({ status: "cancelled", last: { type: "error", message: WHY } });
    expect(textOf(events)).toBe("");
    expect(existsSync(join(family.place, "never"))).toBe(false);
    const { streams } = await family.call("claudecode_streams", { session_id: id });
    expect(streams).toMatchObject([{ status: "cancelled", error: WHY }]);
    const turn = await family.plexus.app.polls.latest(id);
    expect(turn?.usage?.cost_usd).toBeGreaterThan(0);
    const next = await family.run("worker", [{ say: "On we go." }]);
    expect([next.status, textOf(next.events)]).toEqual(["complete", "On we go."]);
    expect(family.requestsOf("worker").at(-1)?.conversation.messages.length).toBeGreaterThan(2);
  });

  test("without a message names who ended it", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    await family.start("worker", [{ use: [bash("touch never")] }]);
    await family.respond(await family.ask(id), { approve: false, interrupt: true });
    const { status, last } = await family.ended("worker");
    expect(status).toBe("cancelled");
    expect(last).toMatchObject({ type: "error", message: expect.stringContaining("operator") });
  });

  test.each([true, false])(
    "also when a subagent made the request, in the background: %p",
    async (run_in_background) => {
      await using family = await startFamily();
      const id = await family.create("worker");
      const prompt = script([{ say: "I begin.", use: [bash("touch never", "toolu_below")] }]);
      const agent = { description: "make a file", prompt, subagent_type: "general-purpose", run_in_background };
      await family.start("worker", [{ use: [{ name: "Agent", input: agent }] }, { hang: true }]);
      await family.respond(await family.ask(id), { approve: false, message: WHY, interrupt: true });
      const { status, events, last } = await family.ended("worker");
      expect({ status, last }).toEqual({ status: "cancelled", last: { type: "error", message: WHY } });
      expect(eventsOf(events, "tool_use").at(-1)).toMatchObject({
        tool_use_id: "toolu_below",
        agent: "general-purpose (make a file)",
      });
      expect(family.children()).toEqual([]);
    },
  );

  test("over REST, whatever the child did with it before its end", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    const prompt = script([{ use: [bash("touch never")] }]);
    const agent = { description: "make a file", prompt, subagent_type: "general-purpose", run_in_background: false };
    // The child continues without its subagent, and completes before it would have to be stopped.
    await family.start("worker", [{ use: [{ name: "Agent", input: agent }] }, { say: "Done without it." }]);
    const { id: approvalId } = await family.ask(id);
    const body = JSON.stringify({ approve: false, message: WHY, interrupt: true });
    await family.plexus.fetch(`/api/v1/approvals/${approvalId}/respond`, { method: "POST", body });
    const { status, last } = await family.ended("worker");
    expect({ status, last }).toEqual({ status: "cancelled", last: { type: "error", message: WHY } });
  });
});

test("a denial that does not interrupt lets the turn go on", async () => {
  await using family = await startFamily();
  const id = await family.create("worker");
  await family.start("worker", [{ use: [bash("touch never")] }, { say: "Then not." }]);
  await family.respond(await family.ask(id), { approve: false, message: WHY });
  const { status, events } = await family.ended("worker");
  expect([status, textOf(events)]).toEqual(["complete", "Then not."]);
});
