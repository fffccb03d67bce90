import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { cliEnvironment } from "../../support/claude/cli-environment.ts";
import type { TestClient } from "../../support/mcp/mcp-client.ts";
import { type ScriptedModel, script, startScriptedModel, type Turn } from "../../support/model/scripted-model.ts";
import { RUN_MARKER, survivors } from "../../support/processes/processes.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(120_000);

const runId = crypto.randomUUID();
let model: ScriptedModel;
let plexus: Plexus;
let parent: TestClient;
let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  model = startScriptedModel();
  plexus = await startPlexus({ flags: { claude: CLAUDE }, environment: childEnvironment() });
  parent = await plexus.connect();
});
afterAll(async () => {
  await plexus[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
  expect(survivors(runId)).toEqual([]);
});

const bash = (command: string) => ({ name: "Bash", input: { command, description: "test" } });

describe("a session", () => {
  test("runs a turn to its end, with events without a gap", async () => {
    const { id } = await create("plain");
    expect(await start("plain", [{ say: "hello from the child" }])).toMatchObject({ type: "started", session_id: id });
    const poll = await ended("plain");
    expect(poll.status).toBe("complete");
    const types = poll.events.map(({ event }) => event.type);
    expect(types[0]).toBe("start");
    expect(types.at(-1)).toBe("complete");
    expect(poll.events.map(({ seq }) => seq)).toEqual(poll.events.map((_, index) => index));
    const text = poll.events.map(({ event }) => (event.type === "content" ? event.text : "")).join("");
    expect(text).toBe("hello from the child");
    expect(readdirSync(join(plexus.dataDir, "turns"))).toEqual([]);
  });

  test("waits for the parent's decision, and goes on with it", async () => {
    const { id } = await create("asking");
    await start("asking", [{ use: [bash("touch made")] }]);
    const { value } = await parent.call("loopback_wait", { session_id: id, timeout_secs: 60 });
    const [approval] = Approval.array().parse(value["approvals"]);
    expect(approval).toMatchObject({ session_name: "asking", tool_name: "Bash" });
    expect((await parent.call("claudecode_poll", { name: "asking" })).value).toMatchObject({
      status: "awaiting_permission",
    });
    await parent.call("loopback_respond", { approval_id: approval?.id, approve: true });
    const poll = await ended("asking", 0);
    expect(poll.status).toBe("complete");
    expect(existsSync(join(directory.path, "work", "made"))).toBe(true);
    const types = poll.events.map(({ event }) => event.type);
    expect(types.filter((type) => type === "tool_use")).toHaveLength(1);
    expect(types.indexOf("approval_requested")).toBeLessThan(types.indexOf("approval_resolved"));
    expect(types.indexOf("approval_resolved")).toBeLessThan(types.indexOf("tool_result"));
  });

  test("returns early from a chat that needs a decision, and can't deadlock", async () => {
    await create("chatty");
    const { value } = await parent.call("claudecode_chat", {
      name: "chatty",
      prompt: script([{ say: "I need a file.", use: [bash("touch x")] }]),
    });
    expect(value).toMatchObject({
      type: "ok",
      status: "awaiting_permission",
      text: "I need a file.",
      pending_approvals: [{ tool_name: "Bash" }],
    });
    expect((await parent.call("claudecode_cancel", { name: "chatty" })).value).toMatchObject({ type: "cancelled" });
    const poll = await ended("chatty");
    expect(poll).toMatchObject({ status: "cancelled", pending_approvals: [] });
    const types = poll.events.map(({ event }) => event.type);
    expect(types.indexOf("approval_requested")).toBeGreaterThan(types.indexOf("tool_use"));
    expect(types).toContain("tool_use");
  });

  test("answers a chat without decisions with the child's words and usage", async () => {
    await create("quick");
    let told = 0;
    const { value } = await parent.call(
      "claudecode_chat",
      { name: "quick", prompt: script([{ say: "forty-two" }]) },
      { onprogress: () => told++ },
    );
    expect(value).toMatchObject({ type: "ok", status: "complete", text: "forty-two", pending_approvals: [] });
    expect(told).toBeGreaterThan(0);
    expect(value["usage"]).toMatchObject({
      num_turns: 1,
      output_tokens: expect.any(Number),
      cost_usd: expect.any(Number),
    });
  });

  test("is no session of a claude started by hand", async () => {
    const { id } = await create("managed");
    expect((await parent.call("loopback_configure", { session_id: id })).value).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("without a session_id"),
    });
  });

  test("goes on with its conversation in the next turn", async () => {
    await create("remembering");
    await start("remembering", [{ say: "first" }]);
    await ended("remembering");
    await start("remembering", [{ say: "second" }]);
    await ended("remembering");
    const last = model.requests.at(-1)?.conversation;
    expect(JSON.stringify(last)).toContain("first");
  });

  test("keeps what was said, block by block, and forks it without touching the parent", async () => {
    const { id } = await create("trunk");
    await start("trunk", [{ say: "said in the trunk" }]);
    await ended("trunk");
    const before = (await parent.call("claudecode_render_context", { name: "trunk" })).value;
    expect(JSON.stringify(before["messages"])).toContain("said in the trunk");
    const { value: fork } = await parent.call("claudecode_fork", { name: "trunk", new_name: "branch" });
    expect(fork).toMatchObject({ type: "forked", head: { tree_id: expect.any(String), node_id: expect.any(String) } });
    await start("branch", [{ say: "said in the branch" }]);
    expect((await ended("branch")).status).toBe("complete");
    expect(JSON.stringify(model.requests.at(-1)?.conversation)).toContain("said in the trunk");
    expect((await parent.call("claudecode_render_context", { name: "trunk" })).value).toEqual(before);
    await start("trunk", [{ say: "more in the trunk" }]);
    await ended("trunk");
    expect(JSON.stringify(model.requests.at(-1)?.conversation)).not.toContain("said in the branch");
    const branch = JSON.stringify(
      (await parent.call("claudecode_render_context", { name: "branch" })).value["messages"],
    );
    expect(branch).toContain("said in the trunk");
    expect(branch).not.toContain("more in the trunk");
    const { value: tree } = await parent.call("claudecode_get_tree", { session_id: id });
    expect(JSON.stringify(tree["nodes"])).toContain("said in the branch");
  });

  test("leaves no trace of an ephemeral turn", async () => {
    await create("forgetful");
    await start("forgetful", [{ say: "kept" }]);
    await ended("forgetful");
    const prompt = script([{ say: "gone" }]);
    await parent.call("claudecode_chat_async", { name: "forgetful", prompt, ephemeral: true });
    await ended("forgetful");
    await start("forgetful", [{ say: "kept too" }]);
    await ended("forgetful");
    expect(JSON.stringify(model.requests.at(-1)?.conversation)).not.toContain("gone");
    const { value } = await parent.call("claudecode_render_context", { name: "forgetful" });
    expect(JSON.stringify(value)).not.toContain("gone");
    const { value: streams } = await parent.call("claudecode_streams", {});
    expect(streams["streams"]).toContainEqual(
      expect.objectContaining({ status: "complete", ended_at: expect.any(Number) }),
    );
    const { value: got } = await parent.call("claudecode_get", { name: "forgetful" });
    expect(got["config"]).toMatchObject({ name: "forgetful", status: "complete", supervision: "default" });
  });

  test("continues from its real state, even if it was looked up before its last turn ended", async () => {
    const { id } = await create("looked-up");
    const before = await plexus.app.sessions.require({ kind: "operator" }, id);
    await start("looked-up", [{ say: "said meanwhile" }]);
    await ended("looked-up");
    await plexus.app.turns.start(before, script([{ say: "and then" }]), false);
    await ended("looked-up");
    expect(JSON.stringify(model.requests.at(-1)?.conversation)).toContain("said meanwhile");
  });

  test("has one turn at a time", async () => {
    await create("busy");
    await start("busy", [{ hang: true }]);
    const second = await parent.call("claudecode_chat_async", { name: "busy", prompt: "more" });
    expect(second).toMatchObject({ isError: true, value: { code: "turn_running" } });
    expect((await parent.call("claudecode_delete", { name: "busy" })).value).toMatchObject({ type: "deleted" });
    expect((await parent.call("claudecode_cancel", { name: "busy" })).value).toMatchObject({ code: "not_found" });
  });

  test("reports the end of its turn to a waiting parent, once", async () => {
    const { id } = await create("finishing");
    const { value: before } = await parent.call("loopback_wait", { session_id: id, timeout_secs: 0 });
    await start("finishing", [{ say: "done" }]);
    const { value } = await parent.call("loopback_wait", { session_id: id, since: before["cursor"], timeout_secs: 60 });
    expect(value["finished"]).toMatchObject([{ session_id: id, name: "finishing", status: "complete", text: "done" }]);
    const again = await parent.call("loopback_wait", { session_id: id, since: value["cursor"], timeout_secs: 0 });
    expect(again.value["type"]).toBe("idle");
  });

  test("fails with the reason when the model's API does", async () => {
    await create("unlucky");
    await start("unlucky", [{ status: 400, message: "no such thing" }]);
    const poll = await ended("unlucky");
    expect(poll.status).toBe("failed");
    expect(JSON.stringify(poll.events.at(-1))).toContain("no such thing");
  });
});

async function create(name: string): Promise<{ id: string }> {
  const { value } = await parent.call("claudecode_create", { name, working_dir: join(directory.path, "work") });
  expect(value).toMatchObject({ type: "created", name });
  return { id: String(value["id"]) };
}

async function start(name: string, turns: Turn[]): Promise<object> {
  return (await parent.call("claudecode_chat_async", { name, prompt: script(turns) })).value;
}

type Poll = {
  status: string;
  pending_approvals: unknown[];
  events: { seq: number; event: { type: string; text: string } }[];
};

/** Polls to the end of the turn, and returns all events. */
async function ended(name: string, fromSeq?: number): Promise<Poll> {
  for (;;) {
    const { value } = await parent.call("claudecode_poll", { name, wait_secs: 20, consumer: "test" });
    const status = String(value["status"]);
    if (status === "running" || status === "awaiting_permission") continue;
    return JSON.parse((await parent.call("claudecode_poll", { name, from_seq: fromSeq ?? 0, limit: 1000 })).text);
  }
}

function childEnvironment(): Record<string, string> {
  return { ...cliEnvironment(join(directory.path, "home"), model.url), [RUN_MARKER]: runId };
}
