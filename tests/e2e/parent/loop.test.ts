import { expect, setDefaultTimeout, test } from "bun:test";
import type { Finished } from "../../../src/contract/tools/wait-answers.ts";
import type { TestClient } from "../../support/mcp/mcp-client.ts";
import { answerOf, type ToolAnswerOf } from "../../support/mcp/tool-answers.ts";
import { script } from "../../support/model/scripted-model.ts";
import { startMortalFamily } from "../../support/server/outage.ts";
import { bash, type Family, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

const LAST = "It is done.";

/** A turn with one request and last words. */
const work = (name: string) => script([{ say: "I begin.", use: [bash(`touch ${name}`)] }, { say: LAST }]);

test("chat, respond, wait: the end of the turn is told, five times of five, also when it came before the wait", async () => {
  await using family = await startFamily();
  for (const name of ["one", "two", "three", "four", "five"]) {
    await family.create(name);
    const asked = await family.call("claudecode_chat", { name, prompt: work(name), wait_secs: 60 });
    expect(asked.status).toBe("awaiting_permission");
    const responded = await allow(family.parent, asked);
    await untilEnded(family, name);
    // As `next` suggests, and with the cursor of the answer.
    const since = name === "two" ? asked.cursor : name === "three" ? responded.cursor : undefined;
    expect(await ends(family.parent, { since })).toMatchObject([{ name, status: "complete", text: LAST }]);
    expect((await wait(family.parent)).type).toBe("idle");
  }
});

test("an end that a chat reported is not repeated, and hides no other child's end", async () => {
  await using family = await startFamily();
  for (const name of ["other", "mine"]) await family.create(name);
  await family.start("other", [{ say: "I was first." }]);
  await untilEnded(family, "other");
  const told = await family.call("claudecode_chat", { name: "mine", prompt: script([{ say: LAST }]), wait_secs: 60 });
  expect(told.status).toBe("complete");
  expect(await ends(family.parent, { since: told.cursor })).toMatchObject([{ name: "other", text: "I was first." }]);
  expect((await wait(family.parent)).type).toBe("idle");
});

test("two waiting consumers both get an end, and a new connection gets what ended meanwhile", async () => {
  await using family = await startFamily();
  await family.create("worker");
  const asked = await family.call("claudecode_chat", { name: "worker", prompt: work("file"), wait_secs: 60 });
  const consumers = ["a", "b"].map((consumer) =>
    ends(family.parent, { consumer, skip: asked.pending_approvals.map(({ id }) => id) }),
  );
  const [approval] = asked.pending_approvals;
  const running = await wait(family.parent, { skip: [approval?.id], timeout_secs: 0 });
  expect(running).toMatchObject({ type: "timeout", running: [{ name: "worker", status: "awaiting_permission" }] });
  await allow(family.parent, asked);
  for (const told of await Promise.all(consumers)) expect(told).toMatchObject([{ name: "worker", text: LAST }]);
  const anew = await family.plexus.connect();
  expect(await ends(anew)).toMatchObject([{ name: "worker", text: LAST }]);
  expect(await ends(family.parent)).toMatchObject([{ name: "worker", text: LAST }]);
});

test("a server that is killed between respond and wait loses no end", async () => {
  await using family = await startMortalFamily();
  await family.create("worker");
  const { value } = await family.parent.call("claudecode_chat", {
    name: "worker",
    prompt: work("file"),
    wait_secs: 60,
  });
  await allow(family.parent, answerOf("claudecode_chat", value));
  await family.crash();
  await family.ended("worker");
  await family.crash();
  const told = { name: "worker", status: "complete", text: LAST, asks: { allowed: 1, denied: 0 } };
  expect(await ends(family.parent)).toMatchObject([told]);
  await family.crash();
  expect((await wait(family.parent)).type).toBe("idle");
});

test("the basic calls still work: chat_async, poll, respond, poll", async () => {
  await using family = await startFamily();
  const session_id = await family.create("worker");
  const started = await family.call("claudecode_chat_async", { session_id, prompt: work("file") });
  expect(started).toMatchObject({ type: "started", session_id });
  const approval = await family.ask(session_id);
  const waiting = await family.call("claudecode_poll", { session_id });
  expect(waiting).toMatchObject({ status: "awaiting_permission", pending_approvals: [{ id: approval.id }] });
  await family.respond(approval, { approve: true });
  const { status, events } = await family.ended("worker");
  expect({ status, last: events.at(-1)?.type }).toEqual({ status: "complete", last: "complete" });
});

async function wait(client: TestClient, args: object = {}): Promise<ToolAnswerOf<"loopback_wait">> {
  const { value, isError } = await client.call("loopback_wait", { timeout_secs: 60, ...args });
  if (isError) throw new Error(JSON.stringify(value));
  return answerOf("loopback_wait", value);
}

async function ends(client: TestClient, args: object = {}): Promise<Finished[]> {
  const waited = await wait(client, args);
  return waited.type === "ok" ? waited.finished : [];
}

async function allow(client: TestClient, { pending_approvals }: ToolAnswerOf<"claudecode_chat">) {
  const [approval] = pending_approvals;
  const { value } = await client.call("loopback_respond", { approval_id: approval?.id, approve: true });
  return answerOf("loopback_respond", value);
}

async function untilEnded(family: Family, name: string): Promise<void> {
  expect((await family.ended(name)).status).toBe("complete");
}
