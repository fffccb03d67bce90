import { expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import { TurnEvent } from "../../src/contract/sessions/turn.ts";
import { JsonObject } from "../../src/contract/values.ts";
import { bash, type Family, startFamily } from "../support/family.ts";
import type { ToolAnswer } from "../support/mcp-client.ts";
import { script } from "../support/scripted-model.ts";
import { expectExample, uncheckedExamples } from "./example.ts";

setDefaultTimeout(120_000);

const ASKING = [{ use: [bash("touch made", "toolu_touch")] }, { think: "thought", say: "said" }];

test("a session that is made, looked at, forked and deleted", async () => {
  await using family = await startFamily();
  const call = caller(family);
  const create = { name: "worker", working_dir: family.place, metadata: { yours: "kept" } };
  await expectResult(await call("create", create), "created");
  await expectResult(await call("list"), "list");
  await expectResult(await call("get", { name: "worker" }), "get");
  await expectResult(await call("poll", { name: "worker" }), "poll-idle");
  await expectResult(await call("cancel", { name: "worker" }), "not-running");
  const chat = { name: "worker", prompt: script([{ say: "said" }]) };
  await expectResult(await call("chat", chat), "chat-complete");
  await expectResult(await call("get_tree", { name: "worker" }), "tree");
  await expectResult(await call("render_context", { name: "worker" }), "context");
  await expectResult(await call("fork", { name: "worker", new_name: "fork" }), "forked");
  await expectResult(await call("delete", { name: "worker" }), "deleted");
});

test("a turn that asks, and one that fails", async () => {
  await using family = await startFamily({ flags: { maxRunning: "1" } });
  const call = caller(family);
  const id = await family.create("worker");
  const failing = { name: "worker", prompt: script([{ status: 400, message: "no such thing" }]) };
  await expectResult(await call("chat", failing), "chat-failed");
  await expectEvent(family, "error", "event-error");
  const chat = { name: "worker", prompt: script(ASKING) };
  const asking = await call("chat", { ...chat, ephemeral: true });
  await expectResult(asking, "chat-awaiting-permission");
  await expectEvent(family, "start", "event-start-ephemeral");
  await expectResult(await call("cancel", { name: "worker" }), "cancelled");
  await expectResult(await call("chat_async", chat), "started");
  await expectResult(await call("streams", { session_id: id }), "streams");
  await expectResult(await call("chat", chat), "error-turn-running", { isError: true });
  await family.create("other");
  await expectResult(await call("chat_async", { ...chat, name: "other" }), "queued");
  await call("cancel", { name: "other" });
  await expectResult(await call("chat", { ...chat, name: "other", wait_secs: 0 }), "chat-queued");
  await call("delete", { name: "other" });
  const ask = await family.ask(id);
  await expectResult(await call("poll", { name: "worker", limit: 1 }), "poll-awaiting-permission");
  await family.respond(ask, { approve: false, message: "not now" });
  await family.ended("worker");
  for (const type of TurnEvent.options.map(({ shape }) => shape.type.value)) {
    if (type !== "error") await expectEvent(family, type, `event-${type.replaceAll("_", "-")}`);
  }
});

test("a turn that goes on, one that is long, and one that has no claude", async () => {
  await using family = await startFamily();
  const call = caller(family);
  await family.create("worker");
  const hanging = { name: "worker", prompt: script([{ hang: true }]), wait_secs: 0 };
  await expectResult(await call("chat", hanging), "chat-running");
  await call("cancel", { name: "worker" });
  await call("chat", { name: "worker", prompt: script([{ say: ["x".repeat(100_000)] }]) });
  await expectEvent(family, "content", "event-truncated");
  await using childless = await startFamily({ flags: { claude: "/nowhere/claude" } });
  await childless.create("worker");
  const refused = await caller(childless)("chat_async", { name: "worker", prompt: "go" });
  await expectResult(refused, "error-claude-unavailable", { isError: true });
});

test("every example of sessions is compared with what the server says", () => {
  expect(uncheckedExamples("sessions")).toEqual([]);
});

function caller({ parent }: Family) {
  return (tool: string, args: object = {}): Promise<ToolAnswer> => parent.call(`claudecode_${tool}`, args);
}

/** One text block with the JSON, and the same as structured content. */
async function expectResult(answer: ToolAnswer, name: string, { isError = false } = {}): Promise<void> {
  expect(answer.isError).toBe(isError);
  expect(answer.structured).toEqual(answer.value);
  expect(answer.text).toBe(JSON.stringify(answer.value));
  await expectExample(answer.value, `sessions/${name}`);
}

/** The first event of this type in the turn of `worker`, as a poll tells it. */
async function expectEvent({ parent }: Family, type: TurnEvent["type"], name: string): Promise<void> {
  const { value } = await parent.call("claudecode_poll", { name: "worker", from_seq: 0, limit: 1000 });
  const events = z.array(z.object({ event: JsonObject })).parse(value["events"]);
  await expectExample(events.find(({ event }) => event["type"] === type)?.event, `sessions/${name}`);
}
