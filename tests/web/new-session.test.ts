import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { basename } from "node:path";
import type { Browser } from "playwright-core";
import { startPlexus } from "../support/server/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./chromium.ts";
import { type Person, signedIn } from "./person.ts";

setDefaultTimeout(60_000);

describe.skipIf(CHROMIUM === undefined)("a new session on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("is named after its directory, which is offered the next time", async () => {
    await using plexus = await startPlexus();
    await using directory = await temporaryDirectory();
    await using person = await signedIn(browser, plexus);
    const name = basename(directory.path);
    await start(person, directory.path);
    await person.page.getByRole("heading", { name, exact: true }).waitFor();
    await person.press("n");
    const offered = person.page.locator("#recent-directories option");
    await until("the directory", async () => (await offered.count()) === 1);
    expect(await offered.first().getAttribute("value")).toBe(directory.path);
    await person.press("Escape");
    await person.page.getByRole("heading", { name: "New session" }).waitFor({ state: "hidden" });
    await start(person, directory.path);
    await person.page.getByRole("heading", { name: `${name}-2`, exact: true }).waitFor();
    expect(person.complaints).toEqual([]);
  });
});

async function start(person: Person, directory: string): Promise<void> {
  await person.page.locator("body").click({ position: { x: 5, y: 400 } });
  await person.press("n");
  await person.page.getByLabel(/Working directory/).fill(directory);
  await person.page.getByRole("button", { name: "Start", exact: true }).click();
}
