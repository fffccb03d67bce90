import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startPlexus } from "../support/server/plexus.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { signedIn } from "./support/person.ts";

setDefaultTimeout(60_000);

const RULES_CODE = "**/assets/rules-*.js";
/** Everything that the browser has fetched of the page so far. */
const FETCHED = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)";

describe.skipIf(CHROMIUM === undefined)("a part of the page that is not needed at first", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("is fetched when it is shown, and can be cached forever", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const html = await (await plexus.fetch("/", { token: null })).text();
    const fetched = async () => {
      const paths: string[] = await person.page.evaluate(FETCHED);
      return new Set(paths.filter((path) => path.startsWith("/assets/")));
    };
    const first = await fetched();
    // So the size of the files that the page names is the size of its first load.
    for (const path of first) expect(html).toContain(`"${path}"`);
    await person.page.getByRole("link", { name: "Rules" }).click();
    await person.page.getByRole("button", { name: "Add a rule" }).waitFor();
    const [later = "", ...more] = (await fetched()).difference(first);
    expect(later).toMatch(/^\/assets\/rules-\w{8}\.js$/);
    expect(more).toEqual([]);
    const { headers } = await plexus.fetch(later, { token: null });
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(person.complaints).toEqual([]);
  });

  test("says that it could not be loaded, and comes when it is shown again", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.route(RULES_CODE, (route) => route.abort());
    await page.getByRole("link", { name: "Rules" }).click();
    await page.getByText("could not be loaded. Reload the page.").waitFor();
    await page.unroute(RULES_CODE);
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("link", { name: "Rules" }).click();
    await page.getByRole("button", { name: "Add a rule" }).waitFor();
    expect(person.complaints).toEqual([]);
  });
});
