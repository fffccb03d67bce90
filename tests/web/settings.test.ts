import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { namedToken } from "../http/support/callers.ts";
import { startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./chromium.ts";
import { signedIn } from "./person.ts";

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
    await page.getByLabel("Token").waitFor();
    await other.page.getByLabel("Token").waitFor();
  });
});
