import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { basename } from "node:path";
import type { Browser } from "playwright-core";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { type Person, signedIn } from "../support/person.ts";

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

  test("begins with a template, which this browser keeps for its person, until it is removed", async () => {
    await using plexus = await startPlexus();
    await using directory = await temporaryDirectory();
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    const dialog = page.getByRole("dialog");
    const open = async () => {
      await person.press("n");
      await page.getByRole("heading", { name: "New session" }).waitFor();
    };
    await open();
    expect(await page.getByLabel("Template", { exact: true }).count()).toBe(0);
    await page.getByLabel(/Working directory/).fill(directory.path);
    await page.getByLabel("Supervision").selectOption("strict");
    await page.getByLabel("First prompt").fill("Fix the tests.");
    await page.getByText("Save this as a template").click();
    await page.getByLabel("Name of the template").fill("fix tests");
    await person.press("Enter");
    await page.getByText("Saved in this browser as fix tests").waitFor();
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    await open();
    await page.getByLabel("Template", { exact: true }).selectOption("fix tests");
    const values = ["Working directory (else where the server was started)", "Supervision", "First prompt"];
    const filled = await Promise.all(values.map((label) => page.getByLabel(label).inputValue()));
    expect(filled).toEqual([directory.path, "strict", "Fix the tests."]);
    expect(await page.evaluate("Object.keys(localStorage).filter((key) => key.includes('templates'))")).toEqual([
      "plexus-templates:operator",
    ]);
    await dialog.getByRole("button", { name: "Remove template" }).click();
    await page.getByLabel("Template", { exact: true }).waitFor({ state: "detached" });
    expect(person.complaints).toEqual([]);
  });
});

async function start(person: Person, directory: string): Promise<void> {
  await person.page.locator("body").click({ position: { x: 5, y: 400 } });
  await person.press("n");
  await person.page.getByLabel(/Working directory/).fill(directory);
  await person.page.getByRole("button", { name: "Start", exact: true }).click();
}
