import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { plexusServer } from "../../../src/contract/approvals/approval.ts";
import { JsonObject } from "../../../src/contract/values.ts";
import { readResults, script } from "../../support/model/scripted-model.ts";
import { startMortalFamily } from "../../support/server/outage.ts";
import { startFamily, textOf } from "../../support/sessions/family.ts";
import { expectTidy } from "../../support/sessions/whole-turn.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

describe("one child more than --max-running", () => {
  test("is queued, and starts when another has ended", async () => {
    await using family = await startFamily({ flags: { maxRunning: "2" } });
    for (const name of ["one", "two", "three", "four"]) await family.create(name);
    for (const name of ["one", "two"]) await family.start(name, [{ hang: true }]);
    const prompt = script([{ say: "my turn" }]);
    const { session_id, ...queued } = await family.call("claudecode_chat_async", { name: "three", prompt });
    expect(queued).toMatchObject({ type: "queued", place: 1 });
    const fourth = await family.call("claudecode_chat", { name: "four", prompt, wait_secs: 0 });
    expect(fourth).toMatchObject({ status: "queued", place: 2, text: "", usage: null });
    expect(await family.call("claudecode_poll", { name: "three" })).toMatchObject({
      status: "queued",
      total_events: 0,
    });
    const { streams } = await family.call("claudecode_streams", { session_id });
    expect(streams).toMatchObject([{ status: "queued", event_count: 0, ended_at: null }]);
    const { sessions } = await family.call("claudecode_list", {});
    expect(sessions.map(({ status }) => status)).toEqual(["queued", "queued", "running", "running"]);
    expect((await family.call("claudecode_get_tree", { name: "three" })).nodes).toHaveLength(1);
    expect(await family.call("claudecode_get", { name: "four" })).toMatchObject({
      config: { status: "queued", place: 2 },
    });
    expect((await family.call("claudecode_get", { name: "one" })).config).not.toHaveProperty("place");
    expect(await family.refused("claudecode_chat_async", { name: "three", prompt })).toMatchObject({
      code: "turn_running",
    });
    await family.call("claudecode_cancel", { name: "one" });
    expect(textOf((await family.ended("three")).events)).toBe("my turn");
    expect((await family.ended("four")).status).toBe("complete");
  });

  test("is waited for by claudecode_chat, through the queue to its end", async () => {
    await using family = await startFamily({ flags: { maxRunning: "1" } });
    for (const name of ["one", "two"]) await family.create(name);
    await family.start("one", [{ say: "first", waitFor: "go" }]);
    const chat = family.call("claudecode_chat", { name: "two", prompt: script([{ say: "second" }]), wait_secs: 110 });
    const other = await family.plexus.connect();
    const status = async () => (await other.call("claudecode_poll", { name: "two" })).value["status"];
    await until("it to be queued", async () => (await status()) === "queued");
    family.model.release("go");
    expect(await chat).toMatchObject({ status: "complete", text: "second" });
  });
});

test("a queued turn survives kill -9 with its prompt, and starts when a slot is free", async () => {
  await using family = await startMortalFamily({ args: ["--max-running", "1"] });
  for (const name of ["one", "two", "three"]) await family.create(name);
  await family.chat("one", [{ say: "first", waitFor: "go" }]);
  await family.chat("two", [{ say: "second" }]);
  await family.chat("three", [{ say: "third" }]);
  // A child that finds no server at its start would fail.
  await until("the first to work", () => family.model.requests.length > 0);
  await family.crash();
  const poll = (name: string) => family.call("claudecode_poll", { name });
  expect(await poll("one")).toMatchObject({ status: "running" });
  expect(await poll("two")).toMatchObject({ status: "queued", total_events: 0 });
  await family.crash();
  family.model.release("go");
  for (const [name, text] of Object.entries({ one: "first", two: "second", three: "third" })) {
    const turn = await family.ended(name);
    expect({ name, status: turn.status, text: textOf(turn.events) }).toEqual({ name, status: "complete", text });
  }
  await expectTidy(family);
});

test("a parent that is itself a child can wait for its own children with only one slot", async () => {
  await using family = await startFamily({ flags: { maxRunning: "1" } });
  const { token } = await family.plexus.app.tokens.createNamed("family");
  const tool = (name: string, input: Record<string, unknown>) => ({ use: [{ name: `mcp__family__${name}`, input }] });
  const work = (name: string) => ({ name, prompt: script([{ say: `${name} is done` }]) });
  await family.create("parent", {
    mcp_servers: { family: plexusServer(family.plexus.url, token) },
    allowed_tools: ["mcp__family"],
  });
  const turn = await family.run("parent", [
    tool("claudecode_create", { name: "elder", working_dir: family.place }),
    tool("claudecode_create", { name: "younger", working_dir: family.place }),
    tool("claudecode_chat_async", work("elder")),
    tool("claudecode_chat", { ...work("younger"), wait_secs: 110 }),
  ]);
  expect(turn.status).toBe("complete");
  const results = readResults(textOf(turn.events)).map(({ content }) => JsonObject.parse(JSON.parse(content)));
  expect(results).toMatchObject([
    { type: "created" },
    { type: "created" },
    { type: "started" },
    { type: "ok", status: "complete", text: "younger is done" },
  ]);
});
