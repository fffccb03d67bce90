import { expect, setDefaultTimeout, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bash, eventsOf, type Family, startFamily, textOf } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

test("three turns share one conversation, and each reports its own usage", async () => {
  await using family = await startFamily();
  const id = await family.create("resumed");
  const turns = [
    await family.run("resumed", [{ say: "answer one" }]),
    await family.run("resumed", [{ use: [bash("echo two")], say: "answer two" }, { say: "answer two, done" }]),
    await family.run("resumed", [{ say: "answer three" }]),
  ];
  expect(turns.map(({ status }) => status)).toEqual(["complete", "complete", "complete"]);

  const last = JSON.stringify(family.requestsOf("resumed").at(-1)?.conversation.messages);
  const said = ["answer one", "answer two", "answer two, done"].map((text) => last.indexOf(`"${text}"`));
  expect(said).toEqual(said.toSorted((a, b) => a - b));
  expect(said).not.toContain(-1);
  expect(last).not.toContain("answer three");

  const completes = turns.flatMap(({ events }) => eventsOf(events, "complete"));
  expect(new Set(completes.map(({ claude_session_id }) => claude_session_id)).size).toBe(1);
  const usages = completes.map(({ usage }) => usage);
  expect(usages).toMatchObject([
    { input_tokens: 10, output_tokens: 5, num_turns: 1 },
    { input_tokens: 20, output_tokens: 10, num_turns: 2 },
    { input_tokens: 10, output_tokens: 5, num_turns: 1 },
  ]);
  const [one = 0, two = 0, three = 0] = usages.map(({ cost_usd }) => cost_usd);
  expect(one).toBeGreaterThan(0);
  expect(two).toBeCloseTo(2 * one, 10);
  expect(three).toBeCloseTo(one, 10);
  const { config } = await family.call("claudecode_get", { session_id: id });
  expect(config.total_cost_usd).toBeCloseTo(4 * one, 10);

  const { streams } = await family.call("claudecode_streams", { session_id: id });
  expect(streams.map(({ event_count }) => event_count)).toEqual(turns.map(({ events }) => events.length).toReversed());
});

test("a fork and its parent go on separately", async () => {
  await using family = await startFamily();
  await family.create("trunk");
  await family.run("trunk", [{ say: "said before" }]);
  const before = await told(family, "trunk");
  const { id, head } = await family.call("claudecode_fork", { name: "trunk", new_name: "branch" });
  expect(head).toEqual(before.config.head);
  expect(await family.call("claudecode_get", { session_id: id })).toMatchObject({
    config: { name: "branch", status: "idle", claude_session_id: null },
  });

  const branch = await family.run("branch", [{ say: "said in the branch" }]);
  expect(branch.status).toBe("complete");
  expect(await told(family, "trunk")).toEqual(before);
  await family.run("trunk", [{ say: "said in the trunk" }]);
  await family.run("branch", [{ say: "and more" }]);

  expect(sent(family, "trunk")).toEqual(["said before"]);
  expect(sent(family, "branch")).toEqual(["said before", "said in the branch"]);
  const [trunk, other] = [await told(family, "trunk"), await told(family, "branch")];
  expect(other.config.claude_session_id).not.toBe(trunk.config.claude_session_id);
  expect(trunk.said).toEqual(["said before", "said in the trunk"]);
  expect(other.said).toEqual(["said before", "said in the branch", "and more"]);

  const { nodes } = await family.call("claudecode_get_tree", { name: "trunk" });
  expect(nodes).toEqual((await family.call("claudecode_get_tree", { name: "branch" })).nodes);
  const roots = nodes.filter(({ parent_id }) => parent_id === null);
  const forked = nodes.filter(({ parent_id }) => parent_id === before.config.head?.node_id);
  expect([roots.length, forked.length, nodes.length]).toEqual([1, 2, 9]);
});

test("a tree has one node for each block, however it was streamed", async () => {
  await using family = await startFamily();
  await family.create("blocks");
  const words = Array.from({ length: 50 }, (_, at) => `word ${at} `);
  const { events } = await family.run("blocks", [
    { say: words, delayMs: 10, use: [bash("echo one"), bash("echo two")] },
    { say: "done" },
  ]);
  expect(textOf(events)).toBe(`${words.join("")}done`);
  const { nodes, head } = await family.call("claudecode_get_tree", { name: "blocks" });
  expect(nodes.map(({ role, content }) => `${role} ${content["type"] ?? ""}`)).toEqual([
    "root ",
    "user text",
    "assistant text",
    "assistant tool_use",
    "assistant tool_use",
    "user tool_result",
    "user tool_result",
    "assistant text",
  ]);
  expect(nodes.map(({ parent_id }) => parent_id)).toEqual([null, ...nodes.slice(0, -1).map(({ id }) => id)]);
  expect(head?.node_id).toBe(nodes.at(-1)?.id ?? "");
  expect(eventsOf(events, "complete")[0]?.new_head).toEqual(head);
});

test("an ephemeral turn knows the conversation, and leaves no trace in it", async () => {
  await using family = await startFamily();
  await family.create("forgetful");
  await family.run("forgetful", [{ say: "kept" }]);
  const before = await told(family, "forgetful");
  const { status, events } = await family.run("forgetful", [{ say: "gone" }], { ephemeral: true });
  expect([status, textOf(events)]).toEqual(["complete", "gone"]);
  expect(sent(family, "forgetful")).toEqual(["kept"]);
  expect(eventsOf(events, "start")[0]?.user_position).toBeNull();
  // Only its cost is counted.
  const { total_cost_usd } = (await told(family, "forgetful")).config;
  expect(await told(family, "forgetful")).toEqual({ ...before, config: { ...before.config, total_cost_usd } });
  await family.run("forgetful", [{ say: "kept too" }]);
  expect(sent(family, "forgetful")).toEqual(["kept"]);
  expect((await told(family, "forgetful")).said).toEqual(["kept", "kept too"]);
});

test("a session keeps its conversation when a turn fails", async () => {
  await using family = await startFamily();
  await family.create("unlucky");
  const failed = await family.run("unlucky", [{ use: [bash("echo done")], say: "begun" }, { status: 400 }]);
  expect(failed.status).toBe("failed");
  const { config } = await family.call("claudecode_get", { name: "unlucky" });
  expect(config.claude_session_id).toBeString();
  expect((await family.run("unlucky", [{ say: "going on" }])).status).toBe("complete");
  expect(sent(family, "unlucky")).toContain("begun");
  const after = await family.call("claudecode_get", { name: "unlucky" });
  expect(after.config.claude_session_id).toBe(config.claude_session_id);
});

/** The assistant's messages in the model's last request of the session. */
function sent(family: Family, name: string): string[] {
  const { messages = [] } = family.requestsOf(name).at(-1)?.conversation ?? {};
  const assistant = messages.filter(({ role }) => role === "assistant");
  return assistant.flatMap(({ content }) =>
    typeof content === "string" ? content : content.flatMap(({ text }) => text ?? []),
  );
}

/** A session's settings and conversation. */
async function told(family: Family, name: string) {
  const { config } = await family.call("claudecode_get", { name });
  const { messages } = await family.call("claudecode_render_context", { name });
  const said = messages.filter(({ role }) => role === "assistant").map(({ content }) => String(content["text"]));
  return { config, messages, said };
}

test("a turn that could not resume the conversation leaves it to the next one", async () => {
  await using family = await startFamily();
  await family.create("lost");
  await family.run("lost", [{ say: "answer one" }]);
  const { config } = await family.call("claudecode_get", { name: "lost" });
  const projects = join(family.home, ".claude", "projects");
  renameSync(projects, `${projects}.away`);

  const { status, last } = await family.run("lost", [{ say: "answer two" }]);
  expect({ status, last }).toMatchObject({
    status: "failed",
    last: { message: expect.stringContaining("conversation is gone from this machine") },
  });
  rmSync(projects, { recursive: true, force: true });
  renameSync(`${projects}.away`, projects);

  expect((await family.run("lost", [{ say: "answer three" }])).status).toBe("complete");
  expect(JSON.stringify(family.requestsOf("lost").at(-1)?.conversation.messages)).toContain("answer one");
  const after = await family.call("claudecode_get", { name: "lost" });
  expect(after.config.claude_session_id).toBe(config.claude_session_id);
});
