import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { namedToken } from "../http/support/callers.ts";
import { SECRET, startReceiver } from "../outbound/webhooks/webhook-receiver.ts";
import { startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { showsRows, signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

describe.skipIf(CHROMIUM === undefined)("the settings on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("list the tokens, revoke one after saying what that ends, and say how to create one", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "ci");
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Name of a new token").fill("my laptop");
    await page.getByText("plexus token create 'my laptop'").waitFor();
    await page.getByRole("button", { name: "Revoke ci" }).click();
    await page.getByText("its queued turns are cancelled").waitFor();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("There are no named tokens.").waitFor();
    await until("ci to be refused", async () => (await plexus.fetch("/api/v1/me", { token })).status === 401);
    expect(person.complaints).toEqual([]);
  });

  test("list the webhooks, send a test message, and show no address", async () => {
    await using receiver = startReceiver();
    const flags = { webhook: `${receiver.url}/secret#name=phone&decide=any`, webhookSecret: SECRET };
    await using plexus = await startPlexus({ flags });
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.goto(`${plexus.url}/#/settings`);
    await page.getByText("No message since the server was started").waitFor();
    await page.getByText("its links allow or deny").waitFor();
    await page.getByRole("button", { name: "Send a test message to phone" }).click();
    await page.getByText("delivered (204)", { exact: true }).waitFor();
    expect(receiver.tests).toHaveLength(1);
    receiver.answerTest = () => new Response(null, { status: 403 });
    await page.getByRole("button", { name: "Send a test message to phone" }).click();
    await page.getByText("it refused the message (403)", { exact: true }).waitFor();
    expect(await page.content()).not.toContain("secret");
    expect(person.complaints).toEqual([]);
  });

  test("name a newer version only where the operator has named a source, and say how to update", async () => {
    await using source = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("99.0.0") });
    for (const updateSource of [undefined, `http://127.0.0.1:${source.port}/`]) {
      await using plexus = await startPlexus({ flags: { updateSource } });
      await using person = await signedIn(browser, plexus);
      const { page } = person;
      await page.goto(`${plexus.url}/#/settings`);
      await page.getByText("To update, run the installer again").waitFor();
      const seen = updateSource === undefined ? "Plexus asks nobody" : "Plexus 99.0.0 is there.";
      await page.getByText(seen).waitFor();
      expect(person.strayRequests).toEqual([]);
      expect(person.complaints).toEqual([]);
    }
  });

  test("set how much is on the screen at once, which this browser remembers", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const child = await asker(plexus);
    await child.ask("Bash", { command: "make" });
    const { page } = person;
    const height = async () => (await person.rows.first().boundingBox())?.height ?? 0;
    await showsRows(person, 1);
    const before = await height();
    await page.goto(`${plexus.url}/#/settings`);
    await page.getByRole("radio", { name: "compact" }).check();
    await page.reload();
    await page.getByRole("navigation").getByRole("link", { name: "Inbox" }).click();
    await showsRows(person, 1);
    expect(await height()).toBeLessThan(before);
    await page.goto(`${plexus.url}/#/settings`);
    await page.getByRole("radio", { name: "comfortable" }).check();
    await page.getByRole("navigation").getByRole("link", { name: "Inbox" }).click();
    await showsRows(person, 1);
    expect(await height()).toBe(before);
    expect(person.complaints).toEqual([]);
  });

  test("sign every page out, and set the colours of this browser", async () => {
    await using plexus = await startPlexus();
    await using other = await signedIn(browser, plexus);
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.goto(`${plexus.url}/#/settings`);
    await page.getByRole("radio", { name: "dark" }).check();
    await page.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Sign out everywhere…" }).click();
    await page.getByRole("button", { name: "Sign out everywhere", exact: true }).click();
    await page.getByLabel("Token or link").waitFor();
    await other.page.getByLabel("Token or link").waitFor();
  });
});
