import { expect, setDefaultTimeout, test } from "bun:test";
import { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { EventsAnswer } from "../../../src/contract/tools/turn-answers.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import type { SessionTool } from "../../support/mcp/tool-answers.ts";
import { script } from "../../support/model/scripted-model.ts";
import { bash, type Family, startFamily } from "../../support/sessions/family.ts";
import { expectAnswer, expectRefusal } from "./answer.ts";

setDefaultTimeout(120_000);

type Unprefixed<Name> = Name extends `claudecode_${infer Rest}` ? Rest : never;
const HEAD = { tree_id: expect.any(String), node_id: expect.any(String) };
const ASKING = [{ use: [bash("touch made", "toolu_touch")] }, { think: "thought", say: "said" }];

test("the answers for creating, showing, forking and deleting a session are as declared", async () => {
  await using family = await startFamily();
  const expectOf = expecter(family);
  const create = { name: "worker", working_dir: family.place, metadata: { yours: "kept" } };
  await expectOf("create", create, { type: "created", name: "worker", head: HEAD });
  await expectOf("list", {}, { sessions: [{ name: "worker", status: "idle" }], has_more: false });
  const config = { kind: "managed", status: "idle", head: HEAD, claude_session_id: null, metadata: { yours: "kept" } };
  await expectOf("get", { name: "worker" }, { config });
  await expectOf("poll", { name: "worker" }, { status: "idle", events: [], total_events: 0, has_more: false });
  await expectOf("cancel", { name: "worker" }, { type: "not_running" });
  const chat = { name: "worker", prompt: script([{ say: "said" }]) };
  const usage = { num_turns: expect.any(Number) };
  await expectOf("chat", chat, { status: "complete", text: "said", error: null, pending_approvals: [], usage });
  const said = { type: "text", text: "said" };
  const roles = [
    { role: "root", parent_id: null, content: {} },
    { role: "user" },
    { role: "assistant", content: said },
  ];
  await expectOf("get_tree", { name: "worker" }, { head: HEAD, nodes: roles, has_more: false });
  const messages = [{ role: "user" }, { role: "assistant", content: said }];
  await expectOf("render_context", { name: "worker" }, { messages, has_more: false });
  await expectOf("fork", { name: "worker", new_name: "fork" }, { type: "forked", head: HEAD });
  await expectOf("delete", { name: "worker" }, { type: "deleted" });
});

test("the answers for a turn that asks, and for one that fails, are as declared", async () => {
  await using family = await startFamily({ flags: { maxRunning: "1" } });
  const expectOf = expecter(family);
  const id = await family.create("worker");
  const failing = { name: "worker", prompt: script([{ status: 400, message: "no such thing" }]) };
  await expectOf("chat", failing, { status: "failed", error: expect.any(String), usage: { num_turns: 1 } });
  await expectEvent(family, "error");
  const chat = { name: "worker", prompt: script(ASKING) };
  const pending_approvals = [{ tool_use_id: "toolu_touch", status: "pending" }];
  const awaiting = { status: "awaiting_permission", pending_approvals };
  await expectOf("chat", { ...chat, ephemeral: true }, { ...awaiting, usage: null });
  expect(await expectEvent(family, "start")).toMatchObject({ user_position: null });
  await expectOf("cancel", { name: "worker" }, { type: "cancelled", session_id: id });
  await expectOf("chat_async", chat, { type: "started", session_id: id });
  const streams = ["running", "cancelled", "failed"].map((status) => ({ session_id: id, status, read_position: 0 }));
  await expectOf("streams", { session_id: id }, { streams });
  expectRefusal(await family.parent.call("claudecode_chat", chat), "turn_running");
  await family.create("other");
  await expectOf("chat_async", { ...chat, name: "other" }, { type: "queued", place: 1 });
  await family.parent.call("claudecode_cancel", { name: "other" });
  await expectOf("chat", { ...chat, name: "other", wait_secs: 0 }, { status: "queued", place: 1, text: "" });
  await family.parent.call("claudecode_delete", { name: "other" });
  const ask = await family.ask(id);
  const first = { events: [{ seq: 0, event: { type: "start" } }], read_position: 1, has_more: true };
  await expectOf("poll", { name: "worker", limit: 1 }, { ...awaiting, ...first });
  await family.respond(ask, { approve: false, message: "not now" });
  await family.ended("worker");
  for (const type of TurnEvent.options.map(({ shape }) => shape.type.value)) {
    if (type !== "error") await expectEvent(family, type);
  }
});

test("the answers for a running turn, a long turn, and a turn without claude are as declared", async () => {
  await using family = await startFamily();
  const expectOf = expecter(family);
  await family.create("worker");
  const hanging = { name: "worker", prompt: script([{ hang: true }]), wait_secs: 0 };
  await expectOf("chat", hanging, { status: "running", text: "", error: null, usage: null });
  await family.parent.call("claudecode_cancel", { name: "worker" });
  await family.parent.call("claudecode_chat", { name: "worker", prompt: script([{ say: ["x".repeat(100_000)] }]) });
  expect(await expectEvent(family, "content")).toMatchObject({ truncated: true, size: expect.any(Number) });
  await using childless = await startFamily({ flags: { claude: "/nowhere/claude" } });
  await childless.create("worker");
  const refused = await childless.parent.call("claudecode_chat_async", { name: "worker", prompt: "go" });
  expectRefusal(refused, "claude_unavailable");
});

/** Calls a tool and expects a declared answer with these values. */
function expecter({ parent }: Family) {
  return async (tool: Unprefixed<SessionTool>, args: object, expected: JsonObject): Promise<void> =>
    expectAnswer(`claudecode_${tool}`, await parent.call(`claudecode_${tool}`, args), expected);
}

/** The first event of this type in the turn of `worker`, as a poll returns it. */
async function expectEvent({ parent }: Family, type: TurnEvent["type"]): Promise<unknown> {
  const { events } = EventsAnswer.pick({ events: true })
    .loose()
    .parse((await parent.call("claudecode_poll", { name: "worker", from_seq: 0, limit: 1000 })).value);
  const found = events.find(({ event }) => event.type === type)?.event;
  expect(found?.type).toBe(type);
  return found;
}
