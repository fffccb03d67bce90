import { expect, setDefaultTimeout, test } from "bun:test";
import { TurnEvents } from "../../../src/contract/routes/turns.ts";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { EventsAnswer, type ToldEvent } from "../../../src/contract/tools/turn-answers.ts";
import { bash, eventsOf, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

const MAX_RESULT_CHARS = 40_000;
/** So that no timer wakes a waiting call. */
const NEVER_MS = 3_600_000;

test("each consumer reads on from where it stopped, and from_seq moves nobody", async () => {
  await using family = await startFamily();
  await family.create("read");
  const { events } = await family.run("read", [{ use: [bash("echo one")], say: "begun" }, { say: "done" }]);
  const total = events.length;
  const poll = (args: object) => family.call("claudecode_poll", { name: "read", ...args });
  const seqs = async (args: object) => (await poll(args)).events.map(({ seq }) => seq);

  expect(await poll({ limit: 2 })).toMatchObject({ read_position: 2, total_events: total, has_more: true });
  expect(await seqs({ limit: 2, consumer: "other" })).toEqual([0, 1]);
  expect(await seqs({ limit: 1, consumer: "other" })).toEqual([2]);
  expect(await poll({ from_seq: 1, limit: 1 })).toMatchObject({ events: [{ seq: 1 }], read_position: 2 });
  expect(await poll({ from_seq: 0, limit: 1000, consumer: "other" })).toMatchObject({ read_position: 3 });
  expect(await seqs({ limit: 1 })).toEqual([2]);
  expect(await seqs({ consumer: "other" })).toEqual(Array.from({ length: total - 3 }, (_, at) => at + 3));
  expect(await poll({ consumer: "other" })).toMatchObject({ events: [], read_position: total, has_more: false });
  expect(await poll({ from_seq: total + 7 })).toMatchObject({ events: [], read_position: 3, has_more: false });
  const { streams } = await family.call("claudecode_streams", {});
  expect(streams).toMatchObject([{ event_count: total, read_position: 3 }]);

  await family.run("read", [{ say: "a turn of its own" }]);
  expect((await poll({})).events[0]).toMatchObject({ seq: 0, event: { type: "start" } });
});

test("only the next event ends a wait", async () => {
  await using family = await startFamily({ clocks: { rereadEveryMs: NEVER_MS } });
  const id = await family.create("waited");
  await family.start("waited", [
    { use: [bash("echo spoken")], waitFor: "the word" },
    { use: [bash("touch asked")], waitFor: "the ask" },
    { say: "done", waitFor: "the end" },
  ]);
  const poll = (wait_secs: number) => family.call("claudecode_poll", { name: "waited", wait_secs });
  let quiet = await poll(0);
  while (family.model.requests.length === 0 || quiet.events.length > 0) quiet = await poll(1);
  expect(quiet).toMatchObject({ status: "running", events: [], pending_approvals: [] });

  const waitingSince = performance.now();
  const woken = poll(60);
  family.model.release("the word");
  expect((await woken).events.map(({ event }) => event.type)).toContain("tool_use");
  expect(performance.now() - waitingSince).toBeLessThan(30_000);
  family.model.release("the ask");
  const ask = await family.ask(id);
  expect(await poll(0)).toMatchObject({ status: "awaiting_permission", pending_approvals: [{ id: ask.id }] });
  await family.respond(ask, { approve: true });
  family.model.release("the end");
  const { last } = await family.ended("waited");
  expect(last?.type).toBe("complete");
});

test("a poll shows only the requests of its own session", async () => {
  await using family = await startFamily();
  const id = await family.create("asking");
  await family.create("calm");
  await family.start("calm", [{ hang: true }]);
  await family.start("asking", [{ use: [bash("touch asked")] }]);
  const ask = await family.ask(id);
  const both = await Promise.all(["asking", "calm"].map((name) => family.call("claudecode_poll", { name })));
  expect(both).toMatchObject([
    { status: "awaiting_permission", pending_approvals: [{ id: ask.id, session_id: id, session_name: "asking" }] },
    { status: "running", pending_approvals: [] },
  ]);
  const { sessions } = await family.call("claudecode_list", {});
  expect(sessions.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "calm running",
    "asking awaiting_permission",
  ]);
});

test("a turn of megabytes comes in results of 40,000 characters, with marks where cut, and in full over REST", async () => {
  await using family = await startFamily();
  await family.create("large", { allowed_tools: ["Bash", "Read"] });
  const text = "0123456789".repeat(300_000);
  const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at}`);
  const { parent } = family;
  await family.start("large", [
    { use: [{ name: "NotebookEdit", input: { notebook_path: "absent.ipynb", new_source: text } }] },
    { use: [{ name: "TodoWrite", input: { todos: lines } }] },
    { say: text },
  ]);
  const ends = ["complete", "failed", "cancelled"];
  const cut: ToldEvent[] = [];
  for (let isOver = false; !isOver; ) {
    const { text: result, value } = await parent.call("claudecode_poll", { name: "large", wait_secs: 30, limit: 1000 });
    expect(result.length).toBeLessThanOrEqual(MAX_RESULT_CHARS);
    const { events, status, has_more, pending_approvals } = EventsAnswer.strip().parse(value);
    for (const { id } of pending_approvals) await parent.call("loopback_respond", { approval_id: id, approve: false });
    cut.push(...events);
    isOver = ends.includes(status) && !has_more;
  }
  expect(cut.map(({ seq }) => seq)).toEqual(cut.map((_, at) => at));

  const whole = await eventsOverRest(family.plexus, (await family.call("claudecode_streams", {})).streams[0]?.turn_id);
  expect(whole.map(({ type }) => type)).toEqual(cut.map(({ event }) => event.type));
  for (const [at, event] of whole.entries()) {
    const size = JSON.stringify(event).length;
    const told = cut[at]?.event;
    if (told && "truncated" in told) expect(told.size).toBe(size);
    else expect(told).toEqual(event);
  }
  const [notebook, todos] = eventsOf(whole, "tool_use");
  expect(notebook?.input["new_source"] === text).toBe(true);
  expect(todos?.input["todos"]).toEqual(lines);
  expect(
    eventsOf(whole, "content")
      .map((event) => event.text)
      .join("") === text,
  ).toBe(true);
});

async function eventsOverRest(plexus: { fetch(path: string): Promise<Response> }, turnId = ""): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for (let more = true; more; ) {
    const response = await plexus.fetch(`/api/v1/turns/${turnId}/events?from_seq=${events.length}`);
    const page = TurnEvents.parse(await response.json());
    events.push(...page.events.map(({ event }) => event));
    more = page.has_more;
  }
  return events;
}
