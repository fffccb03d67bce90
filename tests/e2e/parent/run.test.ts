import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ChatAnswer, RunAnswer } from "../../../src/contract/tools/turn-answers.ts";
import { script, type Turn } from "../../support/model/scripted-model.ts";
import { bash, type Family, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

const SAYS: Turn[] = [{ say: "done" }];
const Standing = ChatAnswer.strip();
const Started = RunAnswer.options[1].strip();

describe("claudecode_run", () => {
  test("makes the child, waits for its end, and returns only its last message", async () => {
    await using family = await startFamily();
    const prompt = script([
      { say: "First I look around.", use: [bash("echo one")] },
      { say: "Then I look again.", use: [bash("echo two")] },
      { say: ["All ", "is ", "well."], delayMs: 5 },
    ]);
    const answer = await family.call("claudecode_run", { name: "fresh", prompt, working_dir: family.place });
    expect(answer).toMatchObject({ type: "ok", status: "complete", text: "All is well.", error: null, created: true });
    expect(answer).not.toHaveProperty("working_dir");
    const { config } = await family.call("claudecode_get", { name: "fresh" });
    expect(config).toMatchObject({ working_dir: family.place, supervision: "default", status: "complete" });
  });

  test("continues with an existing child of that name, whatever arguments are left out", async () => {
    await using family = await startFamily();
    const id = await family.create("known", { model: "haiku", max_turns: 9, metadata: { b: 1, a: [2] } });
    await family.run("known", [{ say: "said before" }]);
    for (const asked of [
      {},
      { model: "haiku", max_turns: 9, metadata: { a: [2], b: 1 }, working_dir: family.place, supervision: "default" },
      { model: null, working_dir: join(family.place, "..", "work"), add_dirs: [] },
    ]) {
      const answer = await run(family, "known", SAYS, asked);
      expect(Standing.parse(answer)).toMatchObject({ session_id: id, status: "complete", text: "done" });
      expect(answer).not.toHaveProperty("created");
    }
    expect(JSON.stringify(family.model.requests.at(-1)?.conversation)).toContain("said before");
  });

  test("says that it made a child, and names its directory if none was given", async () => {
    await using family = await startFamily();
    const { place, plexus } = family;
    await family.create("worker");
    const { working_dir } = await family.call("claudecode_create", { name: "anywhere" });
    const made = await family.call("claudecode_run", { name: "wroker", prompt: script(SAYS) });
    expect(made).toMatchObject({ status: "complete", created: true, working_dir });
    const children = [{ name: "worker" }, { name: "new" }, { name: "placed", working_dir: place }];
    const asked = { children: children.map((child) => ({ ...child, prompt: script(SAYS) })), wait_secs: 0 };
    const { sessions } = Started.parse(await family.call("claudecode_run", asked));
    const session_id = expect.any(String);
    expect(sessions).toEqual([
      { name: "worker", session_id },
      { name: "new", session_id, created: true, working_dir },
      { name: "placed", session_id, created: true },
    ]);
    const body = JSON.stringify({ name: "rest", prompt: script(SAYS) });
    const response = await plexus.fetch("/api/v1/run", { method: "POST", body });
    expect(await response.json()).toMatchObject({ type: "started", created: true, working_dir });
    for (const name of ["worker", "new", "placed", "rest"]) await family.ended(name);
  });

  test("refuses other settings than the child has, names them, and starts nothing", async () => {
    await using family = await startFamily();
    await family.create("settled", { model: "opus", system_prompt: "x".repeat(100), mcp_servers: {} });
    const asked = { model: "haiku", supervision: "strict", system_prompt: "y", max_turns: 3, add_dirs: ["."] };
    const { code, message } = await family.refused("claudecode_run", { name: "settled", prompt: "go", ...asked });
    expect(code).toBe("config_differs");
    expect(message).toStartWith(
      'Session "settled" exists with another model ("opus"), system_prompt, supervision ("default"), add_dirs ([]), max_turns (none). ',
    );
    expect(message).toContain("claudecode_update");
    expect(await family.refused("claudecode_run", { name: "settled", prompt: "go", working_dir: "/" })).toMatchObject({
      code: "invalid_arguments",
    });
    expect((await family.call("claudecode_streams", {})).streams).toEqual([]);
  });

  test("returns when a decision is needed, and refuses a second turn meanwhile", async () => {
    await using family = await startFamily();
    const answer = Standing.parse(await run(family, "asking", [{ use: [bash("touch made")] }, ...SAYS]));
    expect(answer).toMatchObject({ status: "awaiting_permission", pending_approvals: [{ tool_name: "Bash" }] });
    expect(existsSync(join(family.place, "made"))).toBe(false);
    expect(await family.refused("claudecode_run", { name: "asking", prompt: "more" })).toMatchObject({
      code: "turn_running",
    });
    await family.call("claudecode_cancel", { name: "asking" });
  });

  test("makes one child and runs one turn, however many concurrent calls", async () => {
    await using family = await startFamily();
    const prompt = script([{ hang: true }]);
    const ask = () =>
      family.parent.call("claudecode_run", { name: "raced", prompt, working_dir: family.place, wait_secs: 0 });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    const outcomes = answers.map(({ value }) => String(value["code"] ?? value["status"]));
    expect(outcomes.toSorted()).toEqual(["running", ...Array(7).fill("turn_running")]);
    expect((await family.call("claudecode_list", {})).sessions).toHaveLength(1);
    await family.call("claudecode_cancel", { name: "raced" });
  });

  test("does not use the name of a claude started by hand, or of another owner's child", async () => {
    await using family = await startFamily();
    await family.parent.call("loopback_configure", { name: "by hand" });
    expect(await family.refused("claudecode_run", { name: "by hand", prompt: "go" })).toMatchObject({
      code: "name_taken",
      message: expect.stringContaining("started by hand"),
    });
    const { token } = await family.plexus.app.tokens.createNamed("other");
    const other = await family.plexus.connect(token);
    const id = await family.create("mine");
    const answer = await other.call("claudecode_run", {
      name: "mine",
      prompt: script(SAYS),
      working_dir: family.place,
    });
    expect(answer.value).toMatchObject({ status: "complete" });
    expect(answer.value["session_id"]).not.toBe(id);
    // An id is not a name, so this makes a new child with the id as its name.
    expect(Standing.parse(await run(family, id, SAYS)).session_id).not.toBe(id);
  });

  test("starts several children in their order; one that fails has an error, and stops no other", async () => {
    await using family = await startFamily({ flags: { maxRunning: "2" } });
    await family.create("settled", { model: "opus" });
    const child = (name: string, turns: Turn[], asked: object = {}) => {
      return { name, prompt: script(turns, name), working_dir: family.place, ...asked };
    };
    const children = [
      child("first", [{ use: [bash("touch first")] }, ...SAYS]),
      child("settled", SAYS, { model: "haiku" }),
      child("nowhere", SAYS, { working_dir: "/nowhere" }),
      child("second", [{ hang: true }]),
      child("third", SAYS),
    ];
    const answer = Started.parse(await family.call("claudecode_run", { children }));
    expect(answer.sessions).toEqual([
      { name: "first", session_id: expect.any(String), created: true },
      { name: "settled", error: { code: "config_differs", message: expect.stringContaining("model") } },
      { name: "nowhere", error: { code: "invalid_arguments", message: expect.stringContaining("/nowhere") } },
      { name: "second", session_id: expect.any(String), created: true },
      { name: "third", session_id: expect.any(String), created: true },
    ]);
    expect(answer.wait).toMatchObject({
      type: "ok",
      approvals: [{ session_name: "first" }],
      cursor: expect.any(Number),
    });
    const { sessions } = await family.call("claudecode_list", {});
    expect(sessions.find(({ name }) => name === "third")?.status).toBe("queued");
    for (const name of ["first", "second"]) await family.call("claudecode_cancel", { name });
    expect((await family.ended("third")).status).toBe("complete");
  });

  test("starts what it can: a child whose arguments are wrong has an error of its own", async () => {
    await using family = await startFamily();
    const good = (name: string) => ({ name, prompt: script(SAYS, name), working_dir: family.place });
    const children = [
      good("first"),
      { ...good("typo"), promt: "x" },
      { ...good("lax"), supervision: "lax" },
      { name: "idle" },
      { ...good("../etc"), model: 5 },
      { prompt: "nameless" },
      "no object",
      { ...good("patient"), wait_secs: 3 },
      good("first"),
      { ...good("patient") },
      good("last"),
    ];
    const { sessions, wait } = Started.parse(await family.call("claudecode_run", { children, wait_secs: 0 }));
    const invalid = (message: string) => ({ code: "invalid_arguments" as const, message });
    const begins =
      'name must begin with a letter or digit, and go on with letters, digits, spaces and . _ @ : -, got "../etc"';
    expect(sessions).toEqual([
      { name: "first", session_id: expect.any(String), created: true },
      { name: "typo", error: invalid('unknown argument "promt" (did you mean "prompt"?).') },
      { name: "lax", error: invalid('supervision must be "strict", "default" or "inherit", got "lax".') },
      { name: "idle", error: invalid("prompt is missing: give a string.") },
      { name: "../etc", error: invalid(`${begins}; model must be a string, got 5.`) },
      { name: "children[5]", error: invalid("name is missing: give a string.") },
      { name: "children[6]", error: invalid('each child must be a JSON object, got "no object".') },
      { name: "patient", error: invalid("wait_secs goes beside children, not into one of them.") },
      { name: "first", error: invalid("children[0] has the same name: give each child one of its own.") },
      { name: "patient", error: invalid("children[7] has the same name: give each child one of its own.") },
      { name: "last", session_id: expect.any(String), created: true },
    ]);
    expect(wait.type).not.toBe("idle");
    const made = (await family.call("claudecode_list", {})).sessions.map(({ name }) => name);
    expect(made.toSorted()).toEqual(["first", "last"]);
    for (const name of made) await family.ended(name);
  });

  test("names entries of allowed_tools that have no effect, for each child, as create and update do", async () => {
    await using family = await startFamily();
    const asked = { working_dir: family.place, allowed_tools: ["Bash(npm test", "Bash(python3 *)", "Bash(npm test)"] };
    const warnings = [
      expect.stringMatching(/^allowed_tools "Bash\(npm test" has no effect: an entry is /),
      expect.stringMatching(/^allowed_tools "Bash\(python3 \*\)" has no effect: a wildcard never /),
    ];
    expect(await run(family, "one", SAYS, asked)).toMatchObject({ status: "complete", warnings });
    expect(await run(family, "one", SAYS)).not.toHaveProperty("warnings");
    const child = (name: string) => ({ name, prompt: script(SAYS, name), ...asked });
    const children = [child("two"), { ...child("three"), allowed_tools: ["Read"] }];
    const { sessions } = Started.parse(await family.call("claudecode_run", { children, wait_secs: 0 }));
    expect(sessions).toEqual([
      {
        name: "two",
        session_id: expect.any(String),
        created: true,
        warnings: expect.arrayContaining(warnings.slice(0, 1)),
      },
      { name: "three", session_id: expect.any(String), created: true },
    ]);
    for (const name of ["two", "three"]) await family.ended(name);
    expect(await family.call("claudecode_create", { name: "four", ...asked })).toMatchObject({ warnings });
    const inherit = { name: "four", supervision: "inherit" };
    expect(await family.call("claudecode_update", inherit)).not.toHaveProperty("warnings");
    const strict = await family.call("claudecode_update", { name: "four", supervision: "strict" });
    expect(strict).toMatchObject({ warnings: [expect.anything(), expect.stringContaining("strict")] });
  });

  test("is refused if no child started, with each reason, and does not wait for other children", async () => {
    await using family = await startFamily();
    await run(family, "busy", [{ hang: true }], { wait_secs: 0 });
    const before = performance.now();
    const children = [
      { name: "busy", prompt: "more" },
      { name: "b" },
      { name: "c", prompt: "x", working_dir: "/nowhere" },
    ];
    const { code, message } = await family.refused("claudecode_run", { children, wait_secs: 110 });
    expect(code).toBe("turn_running");
    expect(message).toStartWith('None of the children was started. "busy": ');
    expect(message).toContain('"b": prompt is missing: give a string.');
    expect(message).toMatch(/"c": .*\/nowhere/);
    const most = Array.from({ length: 16 }, (_, at) => ({ name: `${at}`.repeat(50), model: "x".repeat(5_000) }));
    const refused = await family.refused("claudecode_run", { children: most });
    expect({ code: refused.code, isShort: refused.message.length < 8_000 }).toEqual({
      code: "invalid_arguments",
      isShort: true,
    });
    expect(performance.now() - before).toBeLessThan(60_000);
    expect((await family.call("claudecode_list", {})).sessions.map(({ name }) => name)).toEqual(["busy"]);
    await family.call("claudecode_cancel", { name: "busy" });
  });

  test.each([
    [{ name: "a", prompt: "x", children: [{ name: "b", prompt: "y" }] }, "not both"],
    [{ children: [] }, "children must be a list of 1 to 16 JSON objects, got an empty list"],
    [{ children: Array(17).fill({ name: "b", prompt: "y" }) }, "got a list of 17"],
    [{ children: "two" }, 'got "two"'],
    [{ children: { name: "b" } }, "got an object"],
    [{ children: [{ prompt: "y" }, "b", 7] }, "children must be a list of JSON objects, each with its name and prompt"],
    [{ model: "opus", children: [{ name: "b", prompt: "y" }] }, "not both"],
    [{ name: "a" }, "prompt"],
    [{ prompt: "x" }, "name"],
    [{ name: "a", prompt: "x", ephemeral: true }, "ephemeral"],
    [{ name: "a", prompt: "x", wait_secs: 111 }, "wait_secs"],
  ])("refuses %j, and says what is wrong", async (args, says) => {
    await using family = await startFamily();
    const { code, message } = await family.refused("claudecode_run", args);
    expect({ code, message }).toEqual({ code: "invalid_arguments", message: expect.stringContaining(says) });
    expect((await family.call("claudecode_list", {})).sessions).toEqual([]);
  });
});

test("POST /api/v1/run makes a child, continues it, and refuses different settings", async () => {
  await using family = await startFamily();
  const post = async (body: object) => {
    const response = await family.plexus.fetch("/api/v1/run", { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, value: await response.json() };
  };
  const asked = { name: "rest", prompt: script([{ say: "one" }, { say: "x" }]), working_dir: family.place };
  expect(await post({ ...asked, model: "haiku", wait_secs: 60 })).toMatchObject({
    status: 200,
    value: { type: "ok", status: "complete", text: "one", turn_id: expect.any(String), created: true },
  });
  expect(await post({ ...asked, model: "opus" })).toMatchObject({
    status: 409,
    value: { error: { code: "config_differs", message: expect.stringContaining('model ("haiku")') } },
  });
  const more = await post({ ...asked, ephemeral: true });
  expect(more).toMatchObject({ status: 202, value: { type: "started" } });
  expect(more.value).not.toHaveProperty("created");
  await family.ended("rest");
});

/** Runs one child, in the family's directory by default. */
async function run(family: Family, name: string, turns: Turn[], asked: object = {}) {
  return family.call("claudecode_run", { name, prompt: script(turns), working_dir: family.place, ...asked });
}
