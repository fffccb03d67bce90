import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { script } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, type Family, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

describe("claudecode_update", () => {
  test("changes the given settings for the next turn, keeps the rest, and returns them", async () => {
    await using family = await startFamily();
    await family.create("worker", { model: "haiku", system_prompt: "Be brief.", metadata: { of: "mine" } });
    await family.run("worker", [{ say: "before" }]);
    const asked = { model: "opus", disallowed_tools: ["WebSearch"], max_budget_usd: 2, system_prompt: null };
    const { config } = await family.call("claudecode_update", { name: "worker", ...asked });
    const changed = { model: "opus", disallowed_tools: ["WebSearch"], max_budget_usd: 2 };
    expect(config).toMatchObject({ ...changed, system_prompt: "Be brief.", metadata: { of: "mine" } });
    expect(await family.call("claudecode_get", { name: "worker" })).toMatchObject({ config: changed });
    await family.run("worker", [{ say: "after" }]);
    const models = family.requestsOf("worker").map(({ conversation }) => conversation.model);
    expect(models).toEqual([expect.stringContaining("haiku"), expect.stringContaining("opus")]);
    expect(JSON.stringify(family.requestsOf("worker").at(-1)?.conversation.messages)).toContain("before");
  });

  test("lets a session continue after its budget was used up", async () => {
    await using family = await startFamily();
    await family.create("spent", { max_budget_usd: 0.0001 });
    await family.run("spent", [{ say: "all of it" }]);
    const chat = { name: "spent", prompt: script([{ say: "more" }]) };
    expect(await family.refused("claudecode_chat", chat)).toMatchObject({ code: "limit_reached" });
    await family.call("claudecode_update", { name: "spent", max_budget_usd: 1 });
    expect(await family.call("claudecode_chat", chat)).toMatchObject({ status: "complete", text: "more" });
  });

  test("does not affect a running turn, and applies to the next one, even a queued one", async () => {
    await using family = await startFamily({ flags: { maxRunning: "1" } });
    const id = await family.create("running", { allowed_tools: ["Bash(touch *)"] });
    await family.start("running", [
      { use: [bash("touch allowed")], waitFor: "the change" },
      { use: [bash("touch allowed-too")] },
      { say: "done" },
    ]);
    const { config, note } = await family.call("claudecode_update", { name: "running", allowed_tools: [] });
    expect(config.allowed_tools).toEqual([]);
    expect(note).toContain("from the next one on");
    family.model.release("the change");
    expect(eventsOf((await family.ended("running")).events, "approval_requested")).toEqual([]);
    await family.start("running", [{ use: [bash("touch asked")] }, { say: "done" }]);
    const ask = await family.ask(id);
    expect(ask.input).toMatchObject({ command: "touch asked" });

    await family.create("waiting");
    await family.start("waiting", [{ say: "done" }]);
    expect(await family.call("claudecode_update", { name: "waiting", model: "haiku" })).not.toHaveProperty("note");
    await family.respond(ask, { approve: false });
    await family.ended("waiting");
    expect(family.requestsOf("waiting").at(-1)?.conversation.model).toContain("haiku");
  });

  test("says that null changes nothing, and that no setting can be unset", async () => {
    await using family = await startFamily();
    await family.create("worker", { model: "haiku" });
    const { code, message } = await family.refused("claudecode_update", { name: "worker", model: null });
    expect({ code, message }).toEqual({ code: "invalid_arguments", message: expect.stringContaining("not unset") });
  });

  test("changes immediately how long new requests wait", async () => {
    await using family = await startFamily();
    const id = await family.create("hasty", { loopback_timeout_secs: 300 });
    await family.start("hasty", [{ use: [bash("touch one")] }, { use: [bash("touch two")] }, { say: "done" }]);
    const one = await family.ask(id);
    await family.call("claudecode_update", { session_id: id, loopback_timeout_secs: 1 });
    expect(await family.statusOf(one)).toBe("pending");
    await family.respond(one, { approve: false });
    const resolved = eventsOf((await family.ended("hasty")).events, "approval_resolved");
    expect(resolved.map(({ status }) => status)).toEqual(["denied", "timed_out"]);
  });

  test("loses neither of two concurrent changes", async () => {
    await using family = await startFamily();
    await family.create("shared");
    const changes = [{ model: "opus" }, { max_turns: 7 }, { metadata: { a: 1 } }, { disallowed_tools: ["Bash"] }];
    await Promise.all(changes.map((change) => family.call("claudecode_update", { name: "shared", ...change })));
    const { config } = await family.call("claudecode_get", { name: "shared" });
    expect(config).toMatchObject(Object.assign({}, ...changes));
  });

  test("applies the checks of claudecode_create", async () => {
    await using family = await startFamily();
    await family.create("held");
    const large = { metadata: { x: "y".repeat(60_000) }, system_prompt: "z".repeat(100_000) };
    for (const [asked, says] of [
      [{ working_dir: "/nowhere" }, "/nowhere"],
      [{ add_dirs: ["/proc/self"] }, "add_dirs"],
      [{ max_turns: 0 }, "max_turns"],
      [{ max_budget_usd: 0 }, "max_budget_usd"],
      [{ ...large, allowed_tools: Array(1_000).fill("x".repeat(1_000)) }, "at most 262144 are kept"],
      [{}, "Nothing is to change"],
      [{ model: null }, "Nothing is to change"],
      [{ prompt: "x" }, "prompt"],
    ] as const) {
      const { code, message } = await family.refused("claudecode_update", { name: "held", ...asked });
      expect({ code, message }).toEqual({ code: "invalid_arguments", message: expect.stringContaining(says) });
    }
    await family.parent.call("loopback_configure", { name: "by hand" });
    expect(await family.refused("claudecode_update", { name: "by hand", model: "opus" })).toMatchObject({
      message: expect.stringContaining("started by hand"),
    });
    expect(await family.refused("claudecode_update", { name: "absent", model: "opus" })).toMatchObject({
      code: "not_found",
    });
  });

  test("lets a session move to another directory with its conversation, also while a turn runs", async () => {
    await using family = await startFamily();
    await family.create("mover");
    const elsewhere = join(family.place, "elsewhere");
    await Bun.write(join(elsewhere, "file"), "");
    await family.start("mover", [{ use: [bash("pwd")], say: "said before", waitFor: "the move" }, { say: "done" }]);
    await family.call("claudecode_update", { name: "mover", working_dir: elsewhere });
    family.model.release("the move");
    const outputs = async () => {
      const { status, events } = await family.ended("mover");
      return [status, ...eventsOf(events, "tool_result").map(({ output }) => output)];
    };
    expect(await outputs()).toEqual(["complete", family.place]);
    for (const _ of [1, 2]) {
      await family.start("mover", [{ use: [bash("pwd")] }, { say: "done" }]);
      expect(await outputs()).toEqual(["complete", elsewhere]);
    }
    expect(JSON.stringify(family.requestsOf("mover").at(-1)?.conversation.messages)).toContain("said before");
  });

  test("lets a named token set the MCP servers that it may use", async () => {
    await using family = await startFamily();
    const { token } = await family.plexus.app.tokens.createNamed("ci");
    const ci = await family.plexus.connect(token);
    await ci.call("claudecode_create", { name: "ours", working_dir: family.place, supervision: "strict" });
    const servers = { tools: { type: "stdio", command: "true" } };
    const update = (client: Family["parent"], args: object) => client.call("claudecode_update", args);
    expect((await update(ci, { name: "ours", mcp_servers: servers })).value).toMatchObject({ code: "forbidden" });
    expect((await update(ci, { name: "ours", mcp_servers: servers, supervision: "default" })).isError).toBe(false);
    expect((await update(ci, { name: "ours", supervision: "strict" })).value).toMatchObject({ code: "forbidden" });
    // Servers from the operator stay allowed. Servers that the token sends replace them and are its own.
    const { value } = await ci.call("claudecode_get", { name: "ours" });
    const session_id = Object(value["config"]).id;
    expect((await update(family.parent, { session_id, mcp_servers: servers, supervision: "strict" })).isError).toBe(
      false,
    );
    expect((await update(ci, { name: "ours", max_turns: 3 })).isError).toBe(false);
    expect((await update(ci, { name: "ours", mcp_servers: servers })).value).toMatchObject({ code: "forbidden" });
  });
});

test("PATCH /api/v1/sessions/KEY changes settings, and shows them", async () => {
  await using family = await startFamily();
  await family.create("patched");
  const patch = async (body: object) => {
    const response = await family.plexus.fetch("/api/v1/sessions/patched", {
      method: "PATCH",
      body: JSON.stringify(body),
    });
    return { status: response.status, value: await response.json() };
  };
  expect(await patch({ model: "opus" })).toMatchObject({
    status: 200,
    value: { type: "ok", config: { name: "patched", model: "opus", max_turns: null } },
  });
  expect(await patch({ name: "other" })).toMatchObject({
    status: 422,
    value: { error: { code: "invalid_arguments" } },
  });
});
