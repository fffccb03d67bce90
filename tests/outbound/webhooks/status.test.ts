import { describe, expect, test } from "bun:test";
import { listWebhooks, testWebhook, WebhookList, WebhookTested } from "../../../src/contract/routes/webhooks.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../../http/support/callers.ts";
import { freePort } from "../../support/server/free-port.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { DiscordMessage, NtfyMessage, SlackMessage, TelegramMessage } from "./services/payloads.ts";
import { startService } from "./services/service.ts";
import { type Receiver, SECRET, startReceiver } from "./webhook-receiver.ts";

const OPERATOR = { kind: "operator" } as const;

describe("the list of webhooks", () => {
  test("says how each is configured and what came of its last message, and nothing of its address but the host", async () => {
    await using receiver = startReceiver();
    const secret = "/T0/B0/a-secret-path?auth=a-secret-too";
    const flags = {
      webhook: `${receiver.url}${secret}#name=phone&decide=deny&events=approval_requested`,
      webhookSecret: SECRET,
    };
    await using plexus = await startPlexus({ flags });
    const [before] = await listed(plexus);
    expect(before).toEqual({
      id: expect.any(String),
      name: "phone",
      host: new URL(receiver.url).host,
      format: "plexus",
      events: ["approval_requested"],
      decide: "deny",
      behind: 0,
      last: null,
    });
    receiver.answer = () => new Response(null, { status: 503 });
    await askOnce(plexus);
    const failing = await until("a failure", async () => (await listed(plexus)).find(({ last }) => last !== null));
    expect(failing).toMatchObject({ behind: 1, last: { outcome: "failed", status: 503, is_test: false } });
    receiver.answer = () => new Response(null, { status: 200 });
    await until("the delivery", async () => (await listed(plexus))[0]?.last?.outcome === "delivered");
    expect((await listed(plexus))[0]).toMatchObject({ behind: 0, last: { status: 200, failure: null } });
    const text = await (await plexus.fetch(listWebhooks.path)).text();
    for (const part of ["a-secret", SECRET, "T0"]) expect(text).not.toContain(part);
  });

  test("is for the operator alone, and so is the test", async () => {
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    const { token } = await namedToken(plexus, "ci");
    const [webhook] = await listed(plexus);
    await expectRefusal(await plexus.fetch(listWebhooks.path, { token }), 403, "forbidden");
    await expectRefusal(await tested(plexus, webhook?.id, token), 403, "forbidden");
    await expectRefusal(await tested(plexus, "another"), 404, "not_found");
    expect(receiver.tests).toEqual([]);
  });
});

describe("a test message", () => {
  test("is posted once, signed, apart from what is still to be told, and the list has what came of it", async () => {
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    receiver.answer = () => new Response(null, { status: 503 });
    await askOnce(plexus);
    await until("a failure", () => receiver.received.length > 0);
    const held = Promise.withResolvers<Response>();
    receiver.answerTest = () => held.promise;
    const [webhook] = await listed(plexus);
    const both = [tested(plexus, webhook?.id), tested(plexus, webhook?.id)];
    await until("the test", () => receiver.tests.length > 0);
    held.resolve(new Response(null, { status: 202 }));
    for (const response of await Promise.all(both))
      expect(WebhookTested.parse(await response.json())).toMatchObject({ outcome: "delivered", status: 202 });
    expect(receiver.tests).toHaveLength(1);
    receiver.answer = () => new Response();
    await until("what was to be told", async () => (await listed(plexus))[0]?.behind === 0);
  });

  test.each([
    ["gone", 410],
    ["refused", 404],
    ["failed", 500],
  ])("that is answered %s is told so, and changes nothing else", async (outcome, status) => {
    await using receiver = startReceiver();
    await using plexus = await withWebhook(receiver);
    receiver.answerTest = () => new Response(null, { status });
    const [webhook] = await listed(plexus);
    const answer = WebhookTested.parse(await (await tested(plexus, webhook?.id)).json());
    expect(answer).toMatchObject({ outcome, status, failure: null });
    expect((await listed(plexus))[0]?.last).toMatchObject({ outcome, is_test: true });
    await askOnce(plexus);
    await until("the ask", () => receiver.received.length === 1);
  });

  test("to a host that is not there says why, without the address", async () => {
    const flags = { webhook: `http://127.0.0.1:${await freePort()}/secret,https://nowhere.invalid/secret` };
    await using plexus = await startPlexus({ flags });
    const webhooks = await listed(plexus);
    const failures = [];
    for (const { id } of webhooks) {
      const text = await (await tested(plexus, id)).text();
      expect(text).not.toContain("secret");
      failures.push(WebhookTested.parse(JSON.parse(text)).failure);
    }
    expect(failures).toEqual(["refused", expect.stringMatching(/unknown_host|connection/)]);
  });

  test.each([
    ["slack", SlackMessage, "/services/T0/B0/x"],
    ["discord", DiscordMessage, "/api/webhooks/1/x"],
    ["telegram", TelegramMessage, "/bot1:x/sendMessage?chat_id=42"],
    ["ntfy", NtfyMessage, "/my-topic"],
  ] as const)("is one that %s takes", async (format, schema, path) => {
    await using service = startService(schema);
    await using plexus = await startPlexus({ flags: { webhook: `${service.url(path)}#format=${format}` } });
    const [webhook] = await listed(plexus);
    expect(WebhookTested.parse(await (await tested(plexus, webhook?.id)).json()).outcome).toBe("delivered");
    expect(service.refused).toEqual([]);
    expect(JSON.stringify(service.received)).toContain("Test message");
  });
});

async function listed(plexus: Plexus) {
  return WebhookList.parse(await (await plexus.fetch(listWebhooks.path)).json()).webhooks;
}

function tested(plexus: Plexus, id = "", token?: string) {
  const path = testWebhook.path.replace(":id", id);
  return plexus.fetch(path, { method: "POST", ...(token !== undefined && { token }) });
}

function withWebhook(receiver: Receiver): Promise<Plexus> {
  return startPlexus({
    flags: { webhook: receiver.url, webhookSecret: SECRET },
    clocks: { webhookRetryMs: 1 },
  });
}

async function askOnce(plexus: Plexus): Promise<void> {
  await ask(plexus, (await sessionOf(plexus, OPERATOR)).session);
}
