import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { SummaryAnswer } from "../../../src/contract/tools/turn-answers.ts";
import { bash, type Family, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const MAX_RESULT_CHARS = 40_000;
/** So that no timer wakes a waiting call. */
const NEVER_MS = 3_600_000;

test("a summary has each call in a line with its decision and its result, and the last message, without noise", async () => {
  await using family = await startFamily();
  const id = await family.create("worker");
  await Bun.write(join(family.place, "note.txt"), "the note\n");
  const read = { name: "Read", input: { file_path: join(family.place, "note.txt") } };
  await family.start("worker", [
    { think: "hm", say: "I begin.", use: [read, bash("touch made")] },
    { say: "Then this.", use: [bash("rm -rf elsewhere")] },
    { say: "All done." },
  ]);
  const touch = await family.ask(id);
  const first = await summary(family, "worker");
  expect(first).toMatchObject({
    status: "awaiting_permission",
    text: "I begin.",
    error: null,
    pending_approvals: [{ id: touch.id }],
    has_more: false,
  });
  // While the turn runs, its words are returned only once.
  expect(await summary(family, "worker")).toMatchObject({ status: "awaiting_permission", calls: [], text: "" });
  expect(first.calls).toMatchObject([
    { tool: "Read", decision: "builtin:read", result: expect.stringContaining("the note") },
    { tool: "Bash", input: "touch made", decision: null, result: null },
  ]);
  await family.respond(touch, { approve: true });
  const remove = await until("the other ask", async () => {
    const ask = await family.ask(id);
    return ask.id !== touch.id && ask;
  });
  await family.respond(remove, { approve: false, message: "Not there." });
  await family.ended("worker");

  const rest = await summary(family, "worker");
  expect(rest.calls).toEqual([
    {
      seq: first.calls[1]?.seq ?? -1,
      tool: "Bash",
      input: "touch made",
      decision: "allowed by operator",
      result: "(Bash completed with no output)",
    },
    {
      seq: expect.any(Number),
      tool: "Bash",
      input: "rm -rf elsewhere",
      decision: "denied by operator",
      result: "error: Not there.",
    },
  ]);
  expect(rest).toMatchObject({ status: "complete", text: "All done.", pending_approvals: [], has_more: false });
  // No call is repeated unless asked for with from_seq or another consumer.
  const { read_position } = rest;
  expect(await summary(family, "worker")).toMatchObject({ calls: [], text: "All done.", read_position });
  expect((await summary(family, "worker", { from_seq: 0 })).calls).toHaveLength(3);
  expect((await summary(family, "worker", { consumer: "other" })).calls).toHaveLength(3);
});

test("a summary moves the same position as events do", async () => {
  await using family = await startFamily();
  await family.create("read");
  const { events } = await family.run("read", [
    { use: [bash("echo one")] },
    { use: [bash("echo two")] },
    { say: "done" },
  ]);
  const uses = events.flatMap(({ type }, seq) => (type === "tool_use" ? [seq] : []));
  await family.call("claudecode_poll", { name: "read", limit: uses[1] });
  const { calls, read_position, has_more } = await summary(family, "read");
  expect(calls).toMatchObject([{ seq: uses[1], input: "echo two", decision: "builtin:bash" }]);
  expect([read_position, has_more]).toEqual([events.length, false]);
  expect((await family.call("claudecode_poll", { name: "read" })).events).toEqual([]);
});

test("a summary of many calls comes in results of 40,000 characters, each call with its result in the end", async () => {
  await using family = await startFamily();
  await family.create("busy");
  const command = (at: number) => `echo ${at} ${"'\\\"\u0001'".repeat(30)}`;
  const steps = Array.from({ length: 12 }, (_, step) => ({
    use: Array.from({ length: 25 }, (_, at) => bash(command(25 * step + at))),
  }));
  await family.create("calm");
  expect((await family.run("busy", [...steps, { say: "x".repeat(10_000) }])).status).toBe("complete");
  const seen = new Map<number, string | null>();
  let polls = 0;
  for (let more = true; more; polls++) {
    const { value, text } = await family.parent.call("claudecode_poll", { name: "busy", view: "summary" });
    expect(text.length).toBeLessThanOrEqual(MAX_RESULT_CHARS);
    const { calls, has_more, text: said } = SummaryAnswer.strip().parse(value);
    for (const { seq, result } of calls) {
      // Together with its result it is returned once.
      expect(seen.get(seq) ?? null).toBeNull();
      seen.set(seq, result);
    }
    more = has_more;
    if (!more) expect(said.length).toBeLessThanOrEqual(2_000);
  }
  expect(polls).toBeGreaterThan(1);
  expect(seen.size).toBe(300);
  expect([...seen.values()].filter((result) => result === null)).toEqual([]);
});

test("a call wakes a wait for a summary, words do not", async () => {
  await using family = await startFamily({ clocks: { rereadEveryMs: NEVER_MS } });
  await family.create("talking");
  await family.start("talking", [
    { say: ["a", "b", "c"], delayMs: 50, use: [bash("echo spoken")], waitFor: "the words" },
    { say: "done", waitFor: "the end" },
  ]);
  await until("the model to be asked", () => family.model.requests.length > 0);
  await summary(family, "talking");
  const woken = summary(family, "talking", { wait_secs: 60 });
  family.model.release("the words");
  expect((await woken).calls).toMatchObject([{ input: "echo spoken" }]);
  const last = summary(family, "talking", { wait_secs: 60 });
  family.model.release("the end");
  await last;
  await family.ended("talking");
});

test("a summary of a turn that failed says why, one of a session without turns is empty", async () => {
  await using family = await startFamily();
  await family.create("unlucky");
  expect(await summary(family, "unlucky")).toMatchObject({ status: "idle", calls: [], text: "", read_position: 0 });
  await family.run("unlucky", [{ status: 400, message: "no such thing" }]);
  const { status, error } = await summary(family, "unlucky");
  expect({ status, error }).toEqual({ status: "failed", error: expect.stringContaining("no such thing") });
});

async function summary(family: Family, name: string, asked: object = {}) {
  const { value } = await family.parent.call("claudecode_poll", { name, view: "summary", ...asked });
  return SummaryAnswer.strip().parse(value);
}
