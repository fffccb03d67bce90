import { describe, expect, test } from "bun:test";
import type { WaitAnswer } from "../../../src/contract/tools/wait-answers.ts";
import { writeEcho } from "../../support/claude/stand-in.ts";
import type { TestClient } from "../../support/mcp/mcp-client.ts";
import { answerOf } from "../../support/mcp/tool-answers.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { expectAnswer, expectRefusal } from "./answer.ts";
import { ARGS, supervised } from "./supervised.ts";

describe("loopback_wait", () => {
  const asked = (id: string) => ({ type: "ok", approvals: [{ id, ...ARGS, status: "pending" }], finished: [] });

  test("returns what is pending at once", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    expectAnswer("loopback_wait", await world.parent.call("loopback_wait"), asked(id));
  });

  test("returns as soon as a child asks", async () => {
    await using world = await supervised();
    const waited = world.parent.call("loopback_wait", { timeout_secs: 60 });
    const { id } = await world.ask();
    expectAnswer("loopback_wait", await waited, asked(id));
  });

  test("reports the time-out, and that only a claude started by hand may still ask, if so", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    const next = expect.stringContaining("started by hand may still ask");
    expect(answer.value).toEqual({ type: "timeout", running: [], cursor: 0, next });
    expectAnswer("loopback_wait", answer);
  });

  test("accepts its cursor as the next since", async () => {
    await using world = await supervised();
    const { value } = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_wait", { since: value["cursor"] });
    expectAnswer("loopback_wait", answer, asked(id));
  });

  test("neither lists nor returns for skipped approvals", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const skipped = await world.parent.call("loopback_wait", { skip: [id], timeout_secs: 0 });
    expectAnswer("loopback_wait", skipped, { type: "timeout" });
    const other = await world.ask({ ...ARGS, tool_use_id: "toolu_2" });
    const answer = await world.parent.call("loopback_wait", { skip: [id] });
    expectAnswer("loopback_wait", answer, { approvals: [{ id: other.id }] });
  });

  test("reports how a turn ended, then that nothing runs, each with a fitting next step", async () => {
    await using world = await echoing();
    const { id: session_id } = await world.create("worker");
    const next: string[] = [];
    const wait = async () => {
      const waited = await told(world.parent);
      next.push(("next" in waited && waited.next) || "");
      return waited;
    };
    const started = await world.chat("worker", "Hello.");
    expect(answerOf("claudecode_chat_async", started.value)).toMatchObject({ type: "started", cursor: 0 });
    const ended = await wait();
    expect(ended).toMatchObject({
      type: "ok",
      approvals: [],
      finished: [{ session_id, name: "worker", status: "complete", text: "Hello.", error: null }],
      running: [],
    });
    expect(await wait()).toMatchObject({ type: "idle" });
    const { session } = await world.asker();
    using _ = await world.plexus.app.approvals.request(session, ARGS);
    expect(await wait()).toMatchObject({ type: "ok", finished: [], approvals: [{}] });
    await world.chat("worker", "Hello again.");
    await world.ended("worker");
    expect(await wait()).toMatchObject({ type: "ok", finished: [{ text: "Hello again." }], approvals: [{}] });
    expect(new Set(next).size).toBe(4);
    for (const words of next) expect(words.length).toBeWithin(20, 90);
  });

  test("reports other running turns with an ended one", async () => {
    await using world = await echoing();
    for (const name of ["slow", "quick"]) await world.create(name);
    await world.chat("slow", "hang");
    await world.chat("quick", "Hello.");
    const waited = await told(world.parent);
    expect(waited).toMatchObject({ finished: [{ name: "quick" }], running: [{ name: "slow" }] });
    expect(Object(waited).next).toContain("Children still run: call loopback_wait.");
    await world.parent.call("claudecode_cancel", { name: "slow" });
    expect(Object(await told(world.parent)).next).not.toContain("still run");
  });

  test("reports an end to each of two clients, to a named consumer, and to a client that connects later", async () => {
    await using world = await echoing();
    await world.create("worker");
    const other = await world.plexus.connect();
    await world.chat("worker", "Hello.");
    const finished = [{ name: "worker", text: "Hello." }];
    expect(await told(world.parent)).toMatchObject({ finished });
    expect(await told(other)).toMatchObject({ finished });
    expect(await told(other)).toMatchObject({ type: "idle" });
    expect(await told(other, { consumer: "mine" })).toMatchObject({ finished });
    expect(await told(await world.plexus.connect())).toMatchObject({ finished });
  });

  test("accepts null for every optional argument", async () => {
    await using world = await supervised();
    const nothing = { session_id: null, since: null, skip: null, consumer: null, timeout_secs: 0 };
    expectAnswer("loopback_wait", await world.parent.call("loopback_wait", nothing), { type: "timeout" });
  });

  test.each([
    { since: -1 },
    { since: 1.5 },
    { timeout_secs: 111 },
    { consumer: "" },
    { consumer: "x".repeat(101) },
    { skip: "all" },
    { skip: Array.from({ length: 201 }, () => "x") },
    { unknown: 1 },
  ])("refuses %p", async (args) => {
    await using world = await supervised();
    expectRefusal(await world.parent.call("loopback_wait", args), "invalid_arguments");
  });

  test("refuses a session that it doesn't know", async () => {
    await using world = await supervised();
    expectRefusal(await world.parent.call("loopback_wait", { session_id: "unknown" }), "not_found");
  });
});

describe("the cost of a parent's loop, in characters / 4 of the answers", () => {
  test("is at most 17 calls and 500 tokens for a child's half hour of silence", async () => {
    await using world = await echoing();
    await world.create("worker");
    await world.chat("worker", "hang");
    let [calls, chars] = [0, 0];
    for (let left = 30 * 60; left > 0; left -= 110) {
      // The clock is moved by hand: only the size of the answers is measured.
      world.pass(Math.min(110, left));
      const { text, value } = await world.parent.call("loopback_wait", { timeout_secs: 0 });
      const silent_secs = 30 * 60 - Math.max(0, left - 110);
      expect(value).toMatchObject({ type: "timeout", running: [{ name: "worker", status: "running", silent_secs }] });
      calls++;
      chars += text.length;
    }
    expect(calls).toBe(17);
    expect(chars / 4).toBeLessThanOrEqual(500);
    await world.parent.call("claudecode_cancel", { name: "worker" });
  });

  test("is one call and at most 700 tokens for the end of any child, whatever its name and last message", async () => {
    await using world = await echoing();
    const name = "n".repeat(100);
    await world.create(name);
    await world.chat(name, "x".repeat(50_000));
    const { text, value } = await world.parent.call("loopback_wait", { timeout_secs: 30 });
    expect(value).toMatchObject({ type: "ok", finished: [{ name, status: "complete" }] });
    expect(text.length / 4).toBeLessThanOrEqual(700);
  });
});

async function told(client: TestClient, args: object = {}): Promise<WaitAnswer> {
  const answer = await client.call("loopback_wait", { timeout_secs: 30, ...args });
  expectAnswer("loopback_wait", answer);
  return answerOf("loopback_wait", answer.value);
}

/** A server whose children repeat their prompt. */
async function echoing() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryDirectory());
  let passed = 0;
  const started = Date.now();
  const now = () => started + passed;
  const plexus: Plexus = stack.use(await startPlexus({ flags: { claude: writeEcho(path) }, clocks: { now } }));
  const parent = await plexus.connect();
  const owned = stack.move();
  return {
    plexus,
    parent,
    pass: (seconds: number) => {
      passed += seconds * 1000;
    },
    create: async (name: string) =>
      answerOf("claudecode_create", (await parent.call("claudecode_create", { name, working_dir: path })).value),
    chat: (name: string, prompt: string) => parent.call("claudecode_chat_async", { name, prompt }),
    ended: (name: string) => parent.call("claudecode_poll", { name, from_seq: 3, wait_secs: 30 }),
    asker: async () => ({ session: await plexus.app.sessions.createByHand({ kind: "operator" }) }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
