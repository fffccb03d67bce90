import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { script } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, type Family, startFamily, textOf } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const LINGERING = "tail -f /dev/null";
const slowly = { say: Array.from({ length: 1_000 }, (_, at) => `word ${at} `), delayMs: 50 };

describe("a cancelled turn leaves no process, and its session goes on", () => {
  test("while the model streams", async () => {
    await using family = await startFamily();
    const id = await family.create("streaming");
    await family.start("streaming", [slowly]);
    await told(family, "streaming", "content");
    expect(await family.call("claudecode_cancel", { name: "streaming" })).toEqual({
      type: "cancelled",
      session_id: id,
    });
    const { events } = await expectCancelled(family, "streaming");
    const text = slowly.say.join("");
    expect(textOf(events).length).toBeWithin(1, text.length);
    expect(text.startsWith(textOf(events))).toBe(true);
  });

  test("while a tool runs in a process session of its own", async () => {
    await using family = await startFamily();
    await family.create("working", { allowed_tools: ["Bash"] });
    await family.start("working", [{ use: [bash(LINGERING)] }]);
    await until("the tool to run", () => family.children().some(({ command }) => command === LINGERING));
    await family.call("claudecode_cancel", { name: "working" });
    const { events } = await expectCancelled(family, "working");
    expect(eventsOf(events, "tool_use")).toHaveLength(1);
  });

  test("while it waits for a decision, which is then no longer possible", async () => {
    await using family = await startFamily();
    const id = await family.create("asking");
    await family.start("asking", [{ use: [bash("touch never")] }]);
    const ask = await family.ask(id);
    await family.call("claudecode_cancel", { session_id: id });
    expect(await family.statusOf(ask)).toBe("abandoned");
    const late = await family.parent.call("loopback_respond", { approval_id: ask.id, approve: true });
    expect(late.value).toMatchObject({ type: "already_resolved", status: "abandoned" });
    const { events } = await expectCancelled(family, "asking");
    expect(eventsOf(events, "approval_resolved")).toMatchObject([{ approval_id: ask.id, status: "abandoned" }]);
    expect(existsSync(join(family.place, "never"))).toBe(false);
  });

  test("before the child has begun", async () => {
    await using family = await startFamily();
    await family.create("young");
    await family.start("young", [{ say: "too late" }]);
    await family.call("claudecode_cancel", { name: "young" });
    const { events } = await expectCancelled(family, "young");
    expect(events.map(({ type }) => type)).toEqual(["start", "error"]);
  });
});

test("cancelling twice, or without a running turn, says that nothing runs", async () => {
  await using family = await startFamily();
  const id = await family.create("calm");
  const notRunning = { type: "not_running" as const, session_id: id };
  expect(await family.call("claudecode_cancel", { name: "calm" })).toEqual(notRunning);
  await family.start("calm", [{ hang: true }]);
  const both = await Promise.all([1, 2].map(() => family.call("claudecode_cancel", { name: "calm" })));
  expect(both.map(({ type }) => type)).toContain("cancelled");
  expect(await family.call("claudecode_cancel", { name: "calm" })).toEqual(notRunning);
  expect((await family.ended("calm")).events.filter(({ type }) => type === "error")).toHaveLength(1);
});

describe("a session that is deleted while it runs leaves nothing, and is unknown afterwards", () => {
  test("while it waits for a decision", async () => {
    await using family = await startFamily();
    const id = await family.create("doomed");
    await family.start("doomed", [{ use: [bash("touch never")] }]);
    const ask = await family.ask(id);
    expect(await family.call("claudecode_delete", { name: "doomed" })).toEqual({ type: "deleted", id });
    expect(family.children()).toEqual([]);
    expect(await family.statusOf(ask)).toBe("abandoned");
    for (const reference of [{ name: "doomed" }, { session_id: id }]) {
      expect((await family.refused("claudecode_poll", reference)).code).toBe("not_found");
      expect((await family.refused("claudecode_delete", reference)).code).toBe("not_found");
      expect((await family.refused("claudecode_chat_async", { ...reference, prompt: "go on" })).code).toBe("not_found");
    }
    expect((await family.call("claudecode_list", {})).sessions).toEqual([]);
    expect((await family.call("claudecode_streams", {})).streams).toEqual([]);
    expect(await family.create("doomed")).not.toBe(id);
  });

  test("while its turn is being started", async () => {
    await using family = await startFamily();
    await family.create("hasty");
    const prompt = script([{ hang: true }]);
    const started = family.parent.call("claudecode_chat_async", { name: "hasty", prompt });
    const deleted = family.parent.call("claudecode_delete", { name: "hasty" });
    expect((await deleted).value).toMatchObject({ type: "deleted" });
    await started;
    expect(family.children()).toEqual([]);
  });
});

/** Waits for an event of this type in the session's turn. */
async function told(family: Family, name: string, type: string): Promise<void> {
  await until(`a ${type} event`, async () => {
    const { events } = await family.call("claudecode_poll", { name, wait_secs: 20, consumer: "told" });
    return events.some(({ event }) => event.type === type);
  });
}

/** Call this right after the answer to the cancel. */
async function expectCancelled(family: Family, name: string) {
  expect(family.children().map(({ command }) => command)).toEqual([]);
  const turn = await family.ended(name);
  expect(turn).toMatchObject({ status: "cancelled", last: { type: "error", message: "The turn was cancelled." } });
  expect(await family.call("claudecode_poll", { name })).toMatchObject({ status: "cancelled", pending_approvals: [] });
  const next = await family.run(name, [{ say: "going on" }]);
  expect(next).toMatchObject({ status: "complete", last: { type: "complete" } });
  expect(textOf(next.events)).toBe("going on");
  return turn;
}
