import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { RespondResult } from "../../../src/contract/approvals/decision.ts";
import { answerOf, SESSION_TOOLS, type SessionTool } from "../../support/mcp/tool-answers.ts";
import { readResults, script } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, startFamily, textOf } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

test("from create to complete: the loop that a parent runs, each answer leading to the next call", async () => {
  await using family = await startFamily();
  const { parent } = family;
  const { id, head } = await family.call("claudecode_create", { name: "worker", working_dir: family.place });
  const { value: before } = await parent.call("loopback_wait", { session_id: id, timeout_secs: 0 });
  expect(before).toMatchObject({ type: "idle" });
  const write = { name: "Write", input: { file_path: join(family.place, "note.txt"), content: "written once" } };
  const prompt = script([{ say: "I will write it down.", use: [write] }, { say: "It is written." }]);
  const started = await family.call("claudecode_chat_async", { session_id: id, prompt });
  expect(started.session_id).toBe(id);

  const { value: asked } = await parent.call("loopback_wait", { since: before["cursor"], timeout_secs: 60 });
  const [approval] = Approval.array().parse(asked["approvals"]);
  expect(approval).toMatchObject({ session_id: id, session_name: "worker", tool_name: "Write", input: write.input });
  const waiting = await family.call("claudecode_poll", { session_id: id });
  expect(waiting).toMatchObject({ status: "awaiting_permission", pending_approvals: [approval] });

  const { value: answer } = await parent.call("loopback_respond", { approval_id: approval?.id, approve: true });
  expect(RespondResult.parse((({ next, cursor, ...rest }) => rest)(answer))).toMatchObject({
    type: "ok",
    status: "allowed",
  });
  const { value: over } = await parent.call("loopback_wait", { since: asked["cursor"], timeout_secs: 60 });
  expect(over).toMatchObject({
    finished: [
      {
        session_id: id,
        name: "worker",
        status: "complete",
        text: "It is written.",
        error: null,
        asks: { allowed: 1, denied: 0, timed_out: 0, abandoned: 0, unasked: 0 },
        num_turns: 2,
      },
    ],
    running: [],
  });

  const rest = await family.call("claudecode_poll", { session_id: id, limit: 1000 });
  expect(rest).toMatchObject({ status: "complete", pending_approvals: [], has_more: false });
  const numbered = [...waiting.events, ...rest.events];
  expect(numbered.map(({ seq }) => seq)).toEqual(numbered.map((_, at) => at));
  const events = numbered.map(({ event }) => event);
  expect(eventsOf(events, "tool_use")).toMatchObject([{ tool_name: "Write", input: write.input }]);
  const order = ["start", "approval_requested", "approval_resolved", "tool_result", "complete"] as const;
  expect(events.map(({ type }) => type).filter((type) => order.some((one) => one === type))).toEqual([...order]);
  expect(textOf(events)).toBe("I will write it down.It is written.");
  expect(eventsOf(events, "approval_resolved")).toMatchObject([{ status: "allowed", resolved_by: "operator" }]);
  expect(readFileSync(join(family.place, "note.txt"), "utf8")).toBe("written once");
  const { config } = await family.call("claudecode_get", { session_id: id });
  expect(config.head).toEqual(eventsOf(events, "complete")[0]?.new_head ?? head);
});

test("chat returns the decision that it needs, and goes on from there", async () => {
  await using family = await startFamily();
  const id = await family.create("chatting");
  let progress = 0;
  const { value } = await family.parent.call(
    "claudecode_chat",
    { name: "chatting", prompt: script([{ say: "thinking about it", use: [bash("touch asked")] }]) },
    { onprogress: () => progress++ },
  );
  const chat = answerOf("claudecode_chat", value);
  expect(chat).toMatchObject({ session_id: id, status: "awaiting_permission", usage: null });
  expect(chat.next).toContain("loopback_respond");
  expect(progress).toBeGreaterThan(0);
  const [approval] = chat.pending_approvals;
  await family.parent.call("loopback_respond", { approval_id: approval?.id, approve: false, message: "later" });
  const { status, events } = await family.ended("chatting");
  expect(status).toBe("complete");
  expect(readResults(textOf(events).replace("thinking about it", ""))).toMatchObject([{ content: "later" }]);
});

const OPTIONAL = {
  claudecode_create: ["working_dir", "model", "system_prompt", "loopback_enabled", "loopback_timeout_secs"].concat([
    "supervision",
    "allowed_tools",
    "disallowed_tools",
    "add_dirs",
    "mcp_servers",
    "max_turns",
    "max_budget_usd",
    "carrier",
    "metadata",
  ]),
  claudecode_chat: ["ephemeral", "wait_secs"],
  claudecode_chat_async: ["ephemeral"],
  claudecode_poll: ["from_seq", "limit", "wait_secs", "consumer", "view"],
  claudecode_streams: ["session_id"],
} satisfies Partial<Record<SessionTool, string[]>>;

describe("every tool", () => {
  test("accepts a session by name and by id, and null for omitted arguments", async () => {
    await using family = await startFamily();
    const nulls = (tool: keyof typeof OPTIONAL) => Object.fromEntries(OPTIONAL[tool].map((name) => [name, null]));
    const { id } = await family.call("claudecode_create", { name: "either", ...nulls("claudecode_create") });
    expect((await family.call("claudecode_get", { session_id: id, name: null })).config).toMatchObject({
      working_dir: process.cwd(),
      loopback_enabled: true,
      loopback_timeout_secs: 300,
      supervision: "default",
      carrier: "http",
    });
    for (const reference of [
      { name: "either", session_id: null },
      { session_id: id, name: null },
    ]) {
      const chat = { ...reference, prompt: script([{ say: "said" }]) };
      const answer = await family.call("claudecode_chat", { ...chat, ...nulls("claudecode_chat") });
      expect(answer).toMatchObject({ session_id: id, status: "complete", text: "said" });
      await family.call("claudecode_chat_async", { ...chat, ...nulls("claudecode_chat_async") });
      await family.ended("either");
      const poll = await family.call("claudecode_poll", { ...reference, ...nulls("claudecode_poll") });
      expect(poll.events[0]).toMatchObject({ seq: 0, event: { type: "start" } });
      const context = await family.call("claudecode_render_context", reference);
      expect(context.messages.at(-1)).toEqual({ role: "assistant", content: { type: "text", text: "said" } });
      const tree = await family.call("claudecode_get_tree", reference);
      expect(tree.head?.node_id).toBe(tree.nodes.at(-1)?.id ?? "");
      expect(await family.call("claudecode_cancel", reference)).toEqual({ type: "not_running", session_id: id });
    }
    expect((await family.call("claudecode_streams", { session_id: null })).streams).toHaveLength(4);
    const fork = await family.call("claudecode_fork", { name: "either", new_name: "forked" });
    expect((await family.call("claudecode_list", {})).sessions.map(({ name }) => name)).toEqual(["forked", "either"]);
    expect(await family.call("claudecode_delete", { session_id: fork.id, name: null })).toMatchObject({ id: fork.id });
    expect(await family.call("claudecode_delete", { name: "either" })).toMatchObject({ id });
  });

  test("refuses an unknown argument, an unknown session, and a session named twice", async () => {
    await using family = await startFamily();
    const id = await family.create("strict");
    const more: Partial<Record<SessionTool, object>> = {
      claudecode_create: { name: "other" },
      claudecode_update: { max_turns: 3 },
      claudecode_chat: { prompt: "go" },
      claudecode_chat_async: { prompt: "go" },
      claudecode_fork: { name: "strict", new_name: "other" },
    };
    const unreferenced = ["run", "create", "list", "streams", "fork"].map((name) => `claudecode_${name}`);
    for (const tool of SESSION_TOOLS) {
      const reference = unreferenced.includes(tool) ? {} : { name: "strict" };
      const refused = await family.refused(tool, { ...reference, ...more[tool], surprise: 1 });
      expect(refused).toEqual({ code: "invalid_arguments", message: expect.stringContaining("surprise") });
      if (unreferenced.includes(tool)) continue;
      for (const wrong of [{ name: "strict", session_id: id }, {}, { name: null, session_id: null }]) {
        expect((await family.refused(tool, { ...wrong, ...more[tool] })).code).toBe("invalid_arguments");
      }
      for (const unknown of [{ name: "absent" }, { session_id: crypto.randomUUID() }]) {
        expect((await family.refused(tool, { ...unknown, ...more[tool] })).code).toBe("not_found");
      }
    }
    expect((await family.refused("claudecode_create", { name: "strict" })).code).toBe("name_taken");
    expect((await family.call("claudecode_list", {})).sessions).toHaveLength(1);
    expect(family.children()).toEqual([]);
  });
});
