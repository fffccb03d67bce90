import { describe, expect, test } from "bun:test";
import { lookAtPush, lookAtWebhooks } from "../../../src/cli/doctor/messages.ts";
import { readConfig } from "../../../src/config.ts";
import { listWebhooks, testWebhook, WebhookList } from "../../../src/contract/routes/webhooks.ts";
import { namedToken } from "../../http/support/callers.ts";
import { startPushService } from "../../outbound/push/push-service.ts";
import { SECRET, startReceiver } from "../../outbound/webhooks/webhook-receiver.ts";
import { freePort } from "../../support/server/free-port.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";

const { signal } = new AbortController();

/** The settings of a command that talks to this server. */
function configOf({ url, dataDir }: Plexus, token = OPERATOR_TOKEN) {
  return readConfig({ url, dataDir }, { PLEXUS_TOKEN: token, HOME: dataDir });
}

describe("what doctor says of webhooks", () => {
  test("is whether each can be reached, what came of its last message, and where its links lead", async () => {
    await using receiver = startReceiver();
    const chat = `http://127.0.0.1:${new URL(receiver.url).port}/topic#format=ntfy&name=chat`;
    const away = `http://127.0.0.1:${await freePort()}/secret#name=away`;
    const flags = { webhook: `${receiver.url}/secret#name=relay,${chat},${away}`, webhookSecret: SECRET };
    await using plexus = await startPlexus({ flags });
    const look = async () =>
      Object.fromEntries((await lookAtWebhooks(configOf(plexus), signal)).map((one) => [one.says.split(" ")[0], one]));
    const first = await look();
    expect(first["relay"]).toMatchObject({ state: "ok", says: expect.stringContaining("reachable, no message since") });
    expect(first["chat"]).toMatchObject({ state: "warning", remedy: expect.stringContaining("--public-url") });
    expect(first["away"]).toMatchObject({ state: "failed", says: expect.stringContaining("can't be reached") });
    receiver.answerTest = () => new Response(null, { status: 403 });
    await sendTest(plexus, "relay");
    expect((await look())["relay"]).toMatchObject({
      state: "failed",
      says: expect.stringContaining("refused the message (403)"),
    });
    receiver.answerTest = () => new Response(null, { status: 503 });
    await sendTest(plexus, "relay");
    expect((await look())["relay"]).toMatchObject({ state: "warning" });
    receiver.answerTest = () => new Response();
    await sendTest(plexus, "relay");
    expect((await look())["relay"]).toMatchObject({ state: "ok", says: expect.stringContaining("was delivered") });
    expect(JSON.stringify(await look())).not.toContain("secret");
    const { token } = await namedToken(plexus, "ci");
    expect(await lookAtWebhooks(configOf(plexus, token), signal)).toEqual([]);
  });
});

describe("what doctor says of push", () => {
  test("is whether it is set up, and how many browsers are told", async () => {
    await using without = await startPlexus();
    expect(await lookAtPush(configOf(without), signal)).toMatchObject({ state: "skipped" });
    await using service = startPushService();
    await using plexus = await startPlexus({ flags: { push: "mailto:me@example.org", pushHosts: service.host } });
    expect(await lookAtPush(configOf(plexus), signal)).toMatchObject({
      state: "ok",
      says: "set up; 0 browsers are told",
    });
    const operator = { kind: "operator" } as const;
    const page = await plexus.app.signIn.redeem((await plexus.app.signIn.newCode(operator)).code);
    const id = (await plexus.app.tokens.identify(page?.token ?? ""))?.page?.id;
    const { public_key } = await plexus.app.push.status(operator, id);
    const { endpoint, keys } = await service.browser(public_key ?? "");
    const told = await plexus.app.push.subscribe(operator, id, { endpoint, keys, after_secs: undefined });
    expect(await lookAtPush(configOf(plexus), signal)).toMatchObject({
      state: "ok",
      says: "set up; 1 browser is told",
    });
    service.answer = () => new Response(null, { status: 403 });
    await plexus.app.push.test(operator, told.id);
    expect(await lookAtPush(configOf(plexus), signal)).toMatchObject({
      state: "warning",
      says: expect.stringContaining("(403)"),
    });
  });
});

async function sendTest(plexus: Plexus, name: string): Promise<void> {
  const { webhooks } = WebhookList.parse(await (await plexus.fetch(listWebhooks.path)).json());
  const id = webhooks.find((one) => one.name === name)?.id ?? "";
  await plexus.fetch(testWebhook.path.replace(":id", id), { method: "POST" });
}
