import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startMcpStub } from "../../claude/mcp-stub.ts";
import { readResults, script } from "../../support/model/scripted-model.ts";
import { startMortalFamily } from "../../support/server/outage.ts";
import { bash, eventsOf, startFamily, textOf } from "../../support/sessions/family.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(120_000);

test("without the loopback, the CLI refuses calls that need approval, and nothing waits", async () => {
  await using family = await startFamily();
  await using stub = startMcpStub("look", () => "seen");
  const other = { mcp_servers: { other: stub.entry }, allowed_tools: ["mcp__other__look"] };
  const id = await family.create("alone", { loopback_enabled: false, ...other });
  const turn = await family.run("alone", [
    { use: [bash("touch never", "toolu_asks"), bash("echo free", "toolu_free")] },
    { use: [{ name: "mcp__other__look", input: {}, id: "toolu_look" }] },
  ]);
  expect(turn.status).toBe("complete");
  expect(eventsOf(turn.events, "approval_requested")).toEqual([]);
  expect((await family.plexus.app.approvals.pending({ kind: "operator" }, id, 10)).approvals).toEqual([]);
  expect(readResults(textOf(turn.events))).toMatchObject([
    { tool_use_id: "toolu_asks", is_error: true },
    { tool_use_id: "toolu_free", is_error: false, content: "free" },
    { tool_use_id: "toolu_look", is_error: false, content: "seen" },
  ]);
  expect(existsSync(join(family.place, "never"))).toBe(false);
  expect(toolsSeen(family.requestsOf("alone").at(-1)?.conversation.tools)).not.toContain("loopback_permit");
});

test("further MCP servers work beside ours, and their tools need approval", async () => {
  await using family = await startFamily();
  await using stub = startMcpStub("look", () => "seen");
  const id = await family.create("equipped", { mcp_servers: { other: stub.entry } });
  await family.start("equipped", [{ use: [{ name: "mcp__other__look", input: { at: "it" } }] }]);
  const ask = await family.ask(id);
  expect(ask).toMatchObject({ tool_name: "mcp__other__look", input: { at: "it" } });
  expect(stub.calls).toEqual([]);
  await family.respond(ask, { approve: true });
  expect((await family.ended("equipped")).status).toBe("complete");
  expect(stub.calls).toEqual([{ at: "it" }]);
  await family.create("usurping", { mcp_servers: { plexus: stub.entry } });
  const refusal = await family.refused("claudecode_chat_async", { name: "usurping", prompt: "go" });
  expect(refusal).toEqual({ code: "invalid_arguments", message: expect.stringContaining("name of Plexus itself") });
});

test("model and system prompt reach the API, the added directory is open, and a disallowed tool is not there", async () => {
  await using family = await startFamily();
  await using elsewhere = await temporaryDirectory();
  const note = join(elsewhere.path, "note");
  writeFileSync(note, "noted elsewhere");
  await family.create("told", {
    model: "claude-haiku-4-5-20251001",
    system_prompt: "Speak of the weather only.",
    add_dirs: [elsewhere.path],
    disallowed_tools: ["WebSearch"],
  });
  const { status, events } = await family.run("told", [{ use: [{ name: "Read", input: { file_path: note } }] }]);
  expect(status).toBe("complete");
  expect(eventsOf(events, "approval_requested")).toEqual([]);
  expect(eventsOf(events, "tool_result")[0]?.output).toContain("noted elsewhere");
  const { conversation } = family.requestsOf("told").at(-1) ?? {};
  expect(conversation?.model).toBe("claude-haiku-4-5-20251001");
  expect(JSON.stringify(conversation?.["system"])).toContain("Speak of the weather only.");
  const tools = toolsSeen(conversation?.tools);
  expect(tools).toContain("Bash");
  expect(tools).not.toContain("WebSearch");
});

test("only allowed tools run without approval", async () => {
  await using family = await startFamily();
  const id = await family.create("trusted", { allowed_tools: ["Write", "Bash(touch:*)"] });
  const write = { name: "Write", input: { file_path: join(family.place, "written"), content: "unasked" } };
  await family.start("trusted", [{ use: [write] }, { use: [bash("touch touched")] }, { use: [bash("mkdir made")] }]);
  const ask = await family.ask(id);
  expect(ask.input).toMatchObject({ command: "mkdir made" });
  expect(["written", "touched", "made"].map((name) => existsSync(join(family.place, name)))).toEqual([
    true,
    true,
    false,
  ]);
  await family.respond(ask, { approve: false });
  expect(eventsOf((await family.ended("trusted")).events, "approval_requested")).toHaveLength(1);
});

test("max_turns ends a longer turn, and says so", async () => {
  await using family = await startFamily();
  await family.create("short", { max_turns: 2 });
  const steps = Array.from({ length: 4 }, (_, at) => ({ use: [bash(`echo ${at}`)] }));
  const { status, events, last } = await family.run("short", steps);
  expect(status).toBe("failed");
  const again = await family.call("claudecode_chat", { name: "short", prompt: script(steps) });
  expect(again).toMatchObject({ status: "failed", next: expect.stringMatching(/^max_turns .* claudecode_update/) });
  expect(last).toMatchObject({ type: "error", message: expect.stringContaining("max_turns") });
  expect(eventsOf(events, "tool_use")).toHaveLength(2);
});

describe("the child's environment", () => {
  test("is the server's, without variables of Plexus, of Bun, or that change how the CLI asks", async () => {
    const kept = { KEPT_FOR_CHILDREN: "kept", PLEXUSNESS: "kept" };
    const removed = { PLEXUS_SECRET: "x", PLEXUS_CLAUDE: "/x", BUN_OPTIONS: "--smol", CLAUDE_CODE_ENTRYPOINT: "x" };
    await using family = await startFamily({ environment: { ...kept, ...removed } });
    await family.create("inheriting", { allowed_tools: ["Bash(env:*)"] });
    const id = (await family.call("claudecode_get", { name: "inheriting" })).config.id;
    await family.start("inheriting", [{ use: [bash("env > env.txt")] }]);
    await family.respond(await family.ask(id), { approve: true });
    await family.ended("inheriting");
    const names = readFileSync(join(family.place, "env.txt"), "utf8").matchAll(/^(\w+)=(.*)$/gm);
    const environment = Object.fromEntries([...names].map(([, name, value]) => [name, value]));
    expect(environment).toMatchObject(kept);
    const ours = Object.keys(environment).filter((name) => /^(PLEXUS_|BUN_)/.test(name));
    expect(ours).toEqual(["PLEXUS_CHILD"]);
    expect(environment["CLAUDE_CODE_ENTRYPOINT"]).not.toBe("x");
    expect(JSON.stringify(environment)).not.toContain("operator-token");
  });
});

test("the prompt arrives unchanged, whatever its beginning and length", async () => {
  await using family = await startFamily();
  await family.create("prompted");
  for (const prompt of ["--version", "/nothing of the kind -- -p", `${"long ".repeat(100_000)}end`]) {
    const { value } = await family.parent.call("claudecode_chat", { name: "prompted", prompt });
    expect(value).toMatchObject({ status: "complete" });
    expect(JSON.stringify(family.model.requests.at(-1)?.conversation.messages)).toContain(prompt);
  }
});

function toolsSeen(tools: unknown[] = []): unknown[] {
  return tools.map((tool) => Object(tool).name);
}

test("a child makes its files with the umask of whoever started the server, not with the server's own", async () => {
  await using family = await startMortalFamily();
  await family.create("maker", { allowed_tools: ["Bash"] });
  await family.chat("maker", [{ use: [bash("umask > mask; touch made")] }, { say: "done" }]);
  expect((await family.ended("maker")).status).toBe("complete");
  const own = process.umask();
  expect(Number.parseInt(readFileSync(join(family.place, "mask"), "utf8"), 8)).toBe(own);
  expect(statSync(join(family.place, "made")).mode & 0o777).toBe(0o666 & ~own);
});
