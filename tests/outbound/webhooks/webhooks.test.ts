import { describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ask, sessionOf } from "../../http/support/callers.ts";
import { openEvents } from "../../http/support/event-reader.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { startFamily } from "../../support/sessions/family.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { isSigned, type Receiver, SECRET, startReceiver } from "./webhook-receiver.ts";

const OPERATOR = { kind: "operator" } as const;

describe("a webhook", () => {
  test("is told of each ask and its outcome as the event stream tells it, in order, signed", async () => {
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    await using stream = await openEvents(plexus.url);
    const { session } = await sessionOf(plexus, OPERATOR, "builder");
    const asked = await ask(plexus, session);
    await plexus.app.approvals.decide(OPERATOR, asked.approvalId, { approve: false, message: "no" });
    const told = await until("both", () => receiver.received.length === 2 && receiver.received);
    expect(told.map(({ id, event }) => ({ id, event }))).toEqual(await stream.take(2));
    expect(told.map(({ event }) => event.type)).toEqual(["approval_requested", "approval_resolved"]);
    expect(told[0]?.headers.get("content-type")).toBe("application/json");
  });

  test("gets no token of ours, and an input no longer than on the stream", async () => {
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    await askOnce(plexus, { command: "x".repeat(100_000) });
    const [one] = await until("the ask", () => receiver.received.length === 1 && receiver.received);
    expect(one?.headers.has("authorization")).toBe(false);
    expect(JSON.stringify([...(one?.headers ?? [])]) + one?.text).not.toContain(OPERATOR_TOKEN);
    expect(one?.event).toMatchObject({ truncated: true, input_size: 100_014 });
    expect(one?.text.length).toBeLessThan(45_000);
  });

  test("is not told what happened before it was configured", async () => {
    await using receiver = startReceiver();
    await using directory = await temporaryDirectory();
    {
      await using plexus = await startPlexus({ dataDir: directory.path });
      await askOnce(plexus);
    }
    await using plexus = await withWebhook(receiver, directory.path);
    const approvalId = await askOnce(plexus);
    const [one] = await until("the new ask", () => receiver.received.length > 0 && receiver.received);
    expect(one?.event).toMatchObject({ type: "approval_requested", approval_id: approvalId });
  });

  test("that is down gets everything in order when it is back, and decisions do not wait for it", async () => {
    await using receiver = startReceiver();
    receiver.answer = () => new Response(null, { status: 503 });
    await using plexus = await withWebhook(receiver);
    const ids = [await askOnce(plexus), await askOnce(plexus), await askOnce(plexus)];
    for (const id of ids) await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
    await until("a few tries", () => receiver.received.length >= 3);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    receiver.received.length = 0;
    receiver.answer = () => new Response();
    await until("all six", () => receiver.received.length >= 6);
    expect(receiver.received.map(({ event }) => event)).toMatchObject([
      ...ids.map((approval_id) => ({ type: "approval_requested", approval_id })),
      ...ids.map((approval_id) => ({ type: "approval_resolved", approval_id })),
    ]);
  });

  test("that never answers holds up neither decisions nor another webhook", async () => {
    await using dead = startReceiver();
    await using receiver = startReceiver();
    const held = Promise.withResolvers<Response>();
    dead.answer = () => held.promise;
    await using plexus = await startPlexus({
      flags: { webhook: `${dead.url},${receiver.url}`, webhookSecret: SECRET },
    });
    const id = await askOnce(plexus);
    await until("the dead one to be called", () => dead.received.length === 1);
    expect(await plexus.app.approvals.decide(OPERATOR, id, { approve: true })).toMatchObject({ status: "allowed" });
    await until("the other to be told", () => receiver.received.length === 2);
    held.resolve(new Response());
  });
});

describe("the end of a turn", () => {
  test("is sent, with its status and usage; its beginning is not", async () => {
    await using receiver = startReceiver();
    await using family = await startFamily({ flags: { webhook: receiver.url, webhookSecret: SECRET } });
    await family.create("builder");
    await family.run("builder", [{ say: "done" }]);
    const [one] = await until("the end", () => receiver.received.length > 0 && receiver.received);
    expect(one?.event).toMatchObject({
      type: "turn_ended",
      session_name: "builder",
      status: "complete",
      usage: { output_tokens: expect.any(Number) },
    });
    expect(receiver.received).toHaveLength(1);
  });
});

describe("after a restart", () => {
  test("a webhook gets what it has missed, and nothing twice", async () => {
    await using receiver = startReceiver();
    await using directory = await temporaryDirectory();
    const ids: string[] = [];
    {
      await using plexus = await withWebhook(receiver, directory.path);
      ids.push(await askOnce(plexus));
      await until("the first", () => receiver.received.length === 1);
      receiver.answer = () => new Response(null, { status: 500 });
      ids.push(await askOnce(plexus), await askOnce(plexus));
      await until("a failure", () => receiver.received.length > 1);
    }
    receiver.received.length = 0;
    receiver.answer = () => new Response();
    await using plexus = await withWebhook(receiver, directory.path);
    ids.push(await askOnce(plexus));
    await until("the newest", () => receiver.received.some(({ event }) => isAsk(event, ids[3])));
    const asks = receiver.received.filter(({ event }) => event.type === "approval_requested");
    expect(asks.map(({ event }) => event)).toMatchObject(ids.slice(1).map((approval_id) => ({ approval_id })));
  });

  test("a webhook that was not configured meanwhile starts with what happens from then on", async () => {
    await using receiver = startReceiver();
    await using directory = await temporaryDirectory();
    for (const named of [true, false]) {
      await using plexus = named ? await withWebhook(receiver, directory.path) : await withoutWebhook(directory.path);
      await askOnce(plexus);
    }
    await using plexus = await withWebhook(receiver, directory.path);
    receiver.received.length = 0;
    const id = await askOnce(plexus);
    await until("the newest", () => receiver.received.some(({ event }) => isAsk(event, id)));
    expect(receiver.received.filter(({ event }) => event.type === "approval_requested")).toHaveLength(1);
  });
});

describe("a webhook that refuses", () => {
  test.each([400, 404, 302, 307])(
    "with %i is tried five times, then what it refused is dropped and logged",
    async (status) => {
      await using receiver = startReceiver();
      receiver.answer = ({ event }) =>
        event.type === "approval_requested"
          ? new Response(null, { status, headers: { location: `${receiver.url}/elsewhere` } })
          : new Response();
      await using plexus = await withWebhook(receiver);
      const id = await askOnce(plexus);
      await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
      await until("the decision", () => receiver.received.at(-1)?.event.type === "approval_resolved");
      expect<string[]>(receiver.received.map(({ event }) => event.type)).toEqual([
        ...Array.from({ length: 5 }, () => "approval_requested"),
        "approval_resolved",
      ]);
      expect(receiver.received.filter(({ path }) => path !== "/hook")).toEqual([]);
      expect(plexus.log.join("")).toContain("a webhook was not told of something: it was refused");
      expect(plexus.log.join("")).not.toContain(receiver.url);
    },
  );

  test.each([408, 429, 500])("with %i is tried until it takes it", async (status) => {
    await using receiver = startReceiver();
    receiver.answer = () => new Response(null, { status: receiver.received.length > 7 ? 200 : status });
    await using plexus = await withWebhook(receiver);
    const id = await askOnce(plexus);
    await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
    await until("the decision", () => receiver.received.at(-1)?.event.type === "approval_resolved");
    expect(receiver.received).toHaveLength(9);
  });

  test("with 410 is told nothing more until the next start", async () => {
    await using receiver = startReceiver();
    await using directory = await temporaryDirectory();
    receiver.answer = () => new Response(null, { status: 410 });
    {
      await using plexus = await withWebhook(receiver, directory.path);
      await askOnce(plexus);
      await until("the log", () => plexus.log.join("").includes("answered 410"));
      await askOnce(plexus);
      expect(await (await plexus.fetch("/metrics")).text()).toContain("plexus_webhooks_gone 1\n");
      expect(receiver.received).toHaveLength(1);
    }
    receiver.answer = () => new Response();
    await using _ = await withWebhook(receiver, directory.path);
    await until("both", () => receiver.received.length >= 3);
  });

  test("for more than a day misses what is older than that", async () => {
    let at = Date.now();
    await using receiver = startReceiver();
    receiver.answer = () => new Response(null, { status: 500 });
    await using plexus = await startPlexus({
      flags: { webhook: receiver.url, webhookSecret: SECRET },
      clocks: { now: () => at, elapsed: () => performance.now(), webhookRetryMs: 1 },
    });
    const id = await askOnce(plexus);
    await until("a try", () => receiver.received.length > 0);
    at += 25 * 60 * 60 * 1000;
    await until("the log", () => plexus.log.join("").includes("it is more than a day old"));
    expect(id).toBeString();
  });
});

describe("the secret", () => {
  test("is made at the first use, 0600, and stays the same", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "webhook-secret");
    const secrets: string[] = [];
    for (let start = 0; start < 2; start++) {
      await using _ = await startPlexus({ dataDir: directory.path, flags: { webhook: "http://127.0.0.1:9/" } });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      secrets.push(readFileSync(file, "utf8"));
    }
    expect(secrets[0]).toMatch(/^plx_webhook_\S{32,}\n$/);
    expect(secrets[1]).toBe(secrets[0] ?? "");
  });

  test("of another server signs nothing that a receiver accepts", async () => {
    await using receiver = startReceiver();
    await using plexus = await startPlexus({
      flags: { webhook: receiver.url, webhookSecret: "another-secret-altogether" },
      clocks: { webhookRetryMs: 1 },
    });
    await askOnce(plexus);
    await until("the refusal", () => plexus.log.join("").includes("it was refused"));
    expect(receiver.received).toEqual([]);
  });

  test("is checked by the code in docs/webhooks.md", async () => {
    await using directory = await temporaryDirectory();
    const docs = readFileSync(join(import.meta.dir, "../../../docs/webhooks.md"), "utf8");
    const file = join(directory.path, "is-from-plexus.mjs");
    await Bun.write(file, /```js\n(.*?)```/s.exec(docs)?.[1] ?? "");
    const { isFromPlexus } = await import(file);
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    await askOnce(plexus);
    const [one] = await until("the ask", () => receiver.received.length === 1 && receiver.received);
    const header = one?.headers.get("x-plexus-signature");
    expect(isFromPlexus(header, one?.text, SECRET)).toBe(true);
    for (const [wrong, body, secret] of [
      [header, `${one?.text} `, SECRET],
      [header, one?.text, "another-secret-altogether"],
      [undefined, one?.text, SECRET],
      ["t=1,v1=00", one?.text, SECRET],
    ])
      expect(isFromPlexus(wrong, body, secret)).toBe(false);
  });

  test("signs the body and the time, so that neither can be changed", async () => {
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    await askOnce(plexus);
    const [one] = await until("the ask", () => receiver.received.length === 1 && receiver.received);
    const header = one?.headers.get("x-plexus-signature") ?? "";
    const text = one?.text ?? "";
    expect(isSigned(header, text, SECRET)).toBe(true);
    expect(isSigned(header, text.replace("Bash", "Read"), SECRET)).toBe(false);
    expect(isSigned(header.replace(/t=\d+/, `t=${Math.floor(Date.now() / 1000) + 1}`), text, SECRET)).toBe(false);
  });
});

function withWebhook(receiver: Receiver, dataDir?: string): Promise<Plexus> {
  return startPlexus({
    flags: { webhook: receiver.url, webhookSecret: SECRET },
    clocks: { webhookRetryMs: 1 },
    ...(dataDir && { dataDir }),
  });
}

function withoutWebhook(dataDir: string): Promise<Plexus> {
  return startPlexus({ dataDir });
}

async function askOnce(plexus: Plexus, input: Record<string, unknown> = { command: "ls" }): Promise<string> {
  const { session } = await sessionOf(plexus, OPERATOR);
  return (await ask(plexus, session, { input })).approvalId;
}

function isAsk(event: { type: string }, id: string | undefined): boolean {
  return event.type === "approval_requested" && "approval_id" in event && event.approval_id === id;
}
