import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { z } from "zod";
import { getPush, PushStatus } from "../../src/contract/routes/push.ts";
import { type PushService, startPushService } from "../outbound/push/push-service.ts";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

const Shown = z.array(z.strictObject({ title: z.string(), body: z.string(), to: z.string() }));
const SHOWN = `navigator.serviceWorker.getRegistration().then((one) => one.getNotifications()).then((all) => all.map(
  ({ title, body, data }) => ({ title, body, to: data })))`;
/** Acts as the browser when a person presses the notification, which no script may do. */
const PRESS = `self.registration.getNotifications().then(([notification]) =>
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification })))`;

describe.skipIf(CHROMIUM === undefined)("push on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("is turned on in the settings, tells of a request that the notification opens, and ends with the sign-out", async () => {
    await using service = startPushService();
    await using plexus = await withPush(service);
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    const device = await deviceOf(plexus, service, page);
    await page.goto(`${plexus.url}/#/settings`);
    // The browser is asked first: until it has agreed, the old choice stays checked.
    await page.getByRole("radio", { name: "at once" }).click();
    await page.getByText("Told at once, until").waitFor();
    await page.getByRole("button", { name: "Send a test to this browser" }).click();
    await page.getByText("delivered (201)", { exact: true }).waitFor();
    expect(device.received.map(({ message }) => message.title)).toEqual(["Test message"]);

    const child = await asker(plexus, "worker");
    await child.ask("Bash", { command: "make" });
    await until("the push", () => device.received.length === 2);
    const message = device.received[1]?.message;
    await deliver(page, plexus.url, message);
    const shown = await until("the notification", async () => {
      const all = Shown.parse(await page.evaluate(SHOWN));
      return all.length > 0 && all;
    });
    expect(shown).toEqual([{ title: "worker needs approval", body: message?.body ?? "", to: message?.to ?? "" }]);
    await page.context().serviceWorkers()[0]?.evaluate(PRESS);
    await person.card.getByRole("heading", { name: "Bash" }).waitFor();

    await page.getByLabel("Sign out").click();
    await page.getByLabel("Token or link").waitFor();
    expect(await subscriptions(plexus)).toEqual([]);
    expect(await page.evaluate("unsubscribed")).toBe(1);
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("plx_");
    expect(person.complaints).toEqual([]);
  });

  test("goes on when the browser signs in anew, is removed on request, and is offered only where it is set up", async () => {
    await using service = startPushService();
    await using plexus = await withPush(service);
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await deviceOf(plexus, service, page);
    await page.goto(`${plexus.url}/#/settings`);
    await page.getByRole("radio", { name: "after 30 seconds" }).click();
    await page.getByText("Told after 30 seconds").waitFor();
    const [first] = await subscriptions(plexus);
    await plexus.app.signIn.endAll();
    await page.getByLabel("Token or link").waitFor();
    expect(await subscriptions(plexus)).toEqual([]);
    await page.goto(`${plexus.url}/#code=${(await plexus.app.signIn.newCode({ kind: "operator" })).code}`);
    const [again] = await until("it to go on", async () => {
      const all = await subscriptions(plexus);
      return all.length > 0 && all;
    });
    expect(again).toMatchObject({ host: first?.host ?? "", after_secs: 30 });
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Remove this browser" }).click();
    await until("it to be removed", async () => (await subscriptions(plexus)).length === 0);
    expect(await page.getByRole("radio", { name: "no", exact: true }).isChecked()).toBe(true);

    await using without = await startPlexus();
    await using other = await signedIn(browser, without);
    await other.page.goto(`${without.url}/#/settings`);
    await other.page.getByText("plexus serve --push mailto:YOU@EXAMPLE.COM").waitFor();
    expect(other.complaints).toEqual([]);
  });
});

function withPush({ host }: PushService): Promise<Plexus> {
  const flags = { push: "mailto:me@example.org", pushHosts: host };
  return startPlexus({ flags, clocks: { webhookRetryMs: 1, pushSpacingMs: 0 } });
}

async function subscriptions(plexus: Plexus): Promise<PushStatus["subscriptions"]> {
  return PushStatus.parse(await (await plexus.fetch(getPush.path)).json()).subscriptions;
}

/** Replaces the browser's push service, which needs the internet, by one on loopback. */
async function deviceOf(plexus: Plexus, service: PushService, page: Page) {
  const status = PushStatus.parse(await (await plexus.fetch(getPush.path)).json());
  const device = await service.browser(status.public_key ?? "");
  await page.context().grantPermissions(["notifications"], { origin: plexus.url });
  const replace = ({ endpoint, keys }: Pick<typeof device, "endpoint" | "keys">) => {
    let subscription: object | null = null;
    const made = {
      options: { applicationServerKey: null },
      toJSON: () => ({ endpoint, keys }),
      unsubscribe: async () => {
        subscription = null;
        Object.assign(globalThis, { unsubscribed: 1 });
      },
    };
    Object.assign(Object(globalThis).PushManager.prototype, {
      getSubscription: async () => subscription,
      subscribe: async (options: object) => {
        made.options = Object.assign(made.options, options);
        subscription = made;
        return made;
      },
    });
  };
  const { endpoint, keys } = device;
  await page.addInitScript(replace, { endpoint, keys });
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  return device;
}

/** Passes a decrypted push to the worker, as the browser would. */
async function deliver(page: Page, origin: string, message: object | undefined): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const { promise, resolve } = Promise.withResolvers<string>();
  devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    if (registrations[0]) resolve(registrations[0].registrationId);
  });
  await devtools.send("ServiceWorker.enable");
  const registrationId = await promise;
  await devtools.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(message) });
}
