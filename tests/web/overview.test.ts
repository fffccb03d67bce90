import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startPlexus } from "../support/server/plexus.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe.skipIf(CHROMIUM === undefined)("the overview on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("shows what was decided by whom, what needs attention, and each chart as a table too", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    const asked = await child.ask("Bash", { command: "touch one" });
    await plexus.app.approvals.decide(OPERATOR, asked.id, { approve: false });
    await child.ask("Bash", { command: "touch two" });
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.getByRole("link", { name: "Overview" }).click();
    const decisions = page.getByRole("region", { name: "Decisions", exact: true });
    expect((await decisions.locator("tbody tr").innerText()).split(/\s+/).slice(0, 4)).toEqual([
      "operator",
      "1",
      "0",
      "1",
    ]);
    await page.getByRole("link", { name: /1 request needs approval/ }).waitFor();
    const chart = page.locator("figure", { hasText: "Requests" });
    expect(await chart.locator("rect.series-asked").count()).toBe(1);
    await chart.getByText("Figures").click();
    expect(await chart.locator("tbody tr").count()).toBe(24);
    expect((await chart.locator("tbody tr").last().innerText()).split("\t").slice(-3)).toEqual(["0", "1", "0"]);
    await page.getByLabel("Time").selectOption("30d");
    await page.locator("figure tbody tr").nth(59).waitFor({ state: "attached" });
    await page
      .getByRole("region", { name: "Parents, sessions and forks" })
      .getByRole("link", { name: "builder" })
      .click();
    await page.getByRole("heading", { name: "builder" }).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("fits a phone", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    const asked = await child.ask("Bash", { command: "touch one" });
    await plexus.app.approvals.decide(OPERATOR, asked.id, { approve: true });
    await using person = await signedIn(browser, plexus, { viewport: { width: 375, height: 700 } });
    await person.page.goto(`${plexus.url}/#/overview`);
    await person.page.getByRole("heading", { name: "Decisions" }).waitFor();
    expect(await person.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(375);
  });
});
