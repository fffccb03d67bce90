import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startMcpStub } from "../../claude/mcp-stub.ts";
import { bash, eventsOf, startFamily, textOf } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

test("3,000 tokens that stream one by one become few events, whose texts make up the whole", async () => {
  await using family = await startFamily();
  await family.create("wordy");
  const tokens = Array.from({ length: 3_000 }, (_, at) => (at % 7 === 0 ? "😀\n" : `tök${at} `));
  const { events } = await family.run("wordy", [{ say: tokens, delayMs: 0 }]);
  const count = eventsOf(events, "content").length;
  expect(textOf(events)).toBe(tokens.join(""));
  expect(count).toBeWithin(2, 301);
  const stored = await family.plexus.app.polls.latest((await family.call("claudecode_list", {})).sessions[0]?.id ?? "");
  expect(stored?.eventCount).toBe(events.length);
});

test("parallel calls appear once each, with their results", async () => {
  await using family = await startFamily();
  const id = await family.create("parallel");
  for (const name of ["a", "b"]) writeFileSync(join(family.place, name), `content of ${name}`);
  const read = (name: string) => ({
    name: "Read",
    input: { file_path: join(family.place, name) },
    id: `toolu_${name}`,
  });
  await family.start("parallel", [
    { use: [read("a"), read("b"), bash("echo of bash", "toolu_bash"), bash("touch asked", "toolu_asked")] },
    { use: [read("absent")] },
  ]);
  await family.respond(await family.ask(id), { approve: false, message: "not that one" });
  const { events } = await family.ended("parallel");
  const calls = eventsOf(events, "tool_use").map(({ tool_use_id }) => tool_use_id);
  expect(calls).toEqual(["toolu_a", "toolu_b", "toolu_bash", "toolu_asked", "toolu_absent"]);
  const results = eventsOf(events, "tool_result");
  expect(results.map(({ tool_use_id }) => tool_use_id).toSorted()).toEqual(calls.toSorted());
  const output = (id: string) => results.find(({ tool_use_id }) => tool_use_id === id);
  expect(output("toolu_a")).toMatchObject({ is_error: false, output: expect.stringContaining("content of a") });
  expect(output("toolu_b")).toMatchObject({ is_error: false, output: expect.stringContaining("content of b") });
  expect(output("toolu_bash")).toMatchObject({ is_error: false, output: "of bash" });
  expect(output("toolu_asked")).toMatchObject({ is_error: true, output: "not that one" });
  expect(output("toolu_absent")).toMatchObject({ is_error: true, output: expect.stringContaining("not exist") });
  for (const { tool_use_id } of results) {
    const at = (type: string) =>
      events.findIndex((event) => event.type === type && "tool_use_id" in event && event.tool_use_id === tool_use_id);
    expect(at("tool_use")).toBeLessThan(at("tool_result"));
  }
});

test("a result in parts, as from MCP tools, appears as its text", async () => {
  await using family = await startFamily();
  await using stub = startMcpStub("look", () => "seen by the stub");
  await family.create("parted", { mcp_servers: { other: stub.entry }, allowed_tools: ["mcp__other__look"] });
  const { events } = await family.run("parted", [{ use: [{ name: "mcp__other__look", input: { at: "it" } }] }]);
  expect(stub.calls).toEqual([{ at: "it" }]);
  expect(eventsOf(events, "tool_use")).toMatchObject([{ tool_name: "mcp__other__look", input: { at: "it" } }]);
  expect(eventsOf(events, "tool_result")).toMatchObject([{ output: "seen by the stub", is_error: false }]);
});
