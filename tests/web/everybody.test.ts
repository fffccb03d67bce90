import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { violationsOn } from "./support/axe.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { type Person, signedIn, visitor } from "./support/person.ts";
import { asker } from "./support/requester.ts";
import { EVERY_KIND, storeTurns } from "./support/stored-transcript.ts";

setDefaultTimeout(90_000);

const FIRST_PAINT_MS = 200;
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";
const OPERATOR = { kind: "operator" } as const;
const PHONE = { viewport: { width: 375, height: 700 } };

describe.skipIf(CHROMIUM === undefined)("the page for everybody", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("has no serious flaw that axe-core could find, in light and dark colours", async () => {
    await using directory = await temporaryDirectory();
    const { sessionId: session } = storeTurns(directory.path, [{ prompt: "Find *it*.", events: EVERY_KIND }]);
    const rules = join(directory.path, "rules.toml");
    writeFileSync(rules, '[[rule]]\ndecision = "allow"\nmatch = "Bash("\n');
    await using plexus = await startPlexus({ dataDir: directory.path, flags: { rules } });
    await fill(plexus);
    for (const colorScheme of ["light", "dark"] as const) {
      // The page's CSP blocks axe like any other script, so this test bypasses it.
      await using person = await signedIn(browser, plexus, { colorScheme, bypassCSP: true });
      const { page } = person;
      for (const row of await rowNames(person)) {
        await page.locator(".row-open", { hasText: row }).first().click();
        await person.card.getByRole("heading", { name: row }).waitFor();
        expect({ row, violations: await violationsOn(page) }).toEqual({ row, violations: [] });
      }
      // A request for which a rule is possible.
      await page.locator(".row-open", { hasText: "WebFetch" }).click();
      for (const [key, heading] of Object.entries({
        d: "Deny this request",
        A: /and remember it$/,
        e: "Edit the input, and allow it",
        "?": "Keys",
        "Control+k": "Go to or do",
        n: "New session",
      })) {
        await person.press(key);
        await page.getByRole("heading", { name: heading }).waitFor();
        expect({ heading, violations: await violationsOn(page) }).toEqual({ heading, violations: [] });
        await person.press("Escape");
        // Until the dialog is closed, it takes the keys.
        await page.getByRole("heading", { name: heading }).waitFor({ state: "hidden" });
      }
      for (const name of ["Sessions", "History", "Overview", "Settings", "Rules"]) {
        await page.getByRole("navigation").getByRole("link", { name }).click();
        await page.getByRole("heading", { name, exact: true }).waitFor();
        if (name === "Overview") await page.getByRole("heading", { name: "Needs attention" }).waitFor();
        expect({ name, violations: await violationsOn(page) }).toEqual({ name, violations: [] });
      }
      await page.locator(".rule").first().waitFor();
      await page.getByText("The rules file has a mistake").waitFor();
      await page.getByRole("button", { name: "Add a rule" }).click();
      for (const decision of ["allow", "ask", "deny"]) {
        await page.getByRole("radio", { name: new RegExp(`^${decision} `) }).check();
        expect({ decision, violations: await violationsOn(page) }).toEqual({ decision, violations: [] });
      }
      await person.press("Escape");
      await page.goto(`${plexus.url}/#/sessions/${session}`);
      await page.getByText("The turn was cancelled.").waitFor();
      await page.getByRole("button", { name: "All messages" }).click();
      await page.getByLabel("Search the whole transcript").fill("look");
      await page.locator(".hit-list li").first().waitFor();
      // Nested ones are drawn only after the outer ones are open.
      for (const _ of ["outer", "inner"])
        await page.locator(".transcript").evaluate((all) => {
          for (const fold of all.querySelectorAll("details")) fold.open = true;
        });
      await page.locator(".entry.subagent .placed").first().waitFor();
      await page.locator(".hljs-keyword").first().waitFor();
      expect(await violationsOn(page)).toEqual([]);
      for (const action of ["Fork", "Delete"]) {
        await page.getByRole("button", { name: action, exact: true }).click();
        await page.getByRole("dialog").waitFor();
        expect({ action, violations: await violationsOn(page) }).toEqual({ action, violations: [] });
        await person.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
      await page.goto(`${plexus.url}/#/history`);
      await page.locator(".decision").first().click();
      await page.getByRole("dialog").waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await person.press("Escape");
      await page.getByRole("link", { name: "Sessions" }).click();
      await page.getByRole("button", { name: "New session" }).click();
      await page.getByLabel("First prompt").waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await person.press("Escape");
      await page.getByLabel("Sign out").click();
      await page.getByLabel("Token").waitFor();
      expect(await violationsOn(page)).toEqual([]);
    }
  });

  test("fits a phone: list and card take turns, and nothing is wider than the screen", async () => {
    await using plexus = await startPlexus();
    await fill(plexus);
    await using person = await signedIn(browser, plexus, PHONE);
    const { page } = person;
    for (const row of await rowNames(person)) {
      await page.locator(".row-open", { hasText: row }).first().click();
      await person.card
        .getByRole("button", { name: /Allow|Answer/ })
        .first()
        .waitFor();
      expect({ row, width: await page.evaluate("document.documentElement.scrollWidth") }).toEqual({ row, width: 375 });
      await person.card.getByLabel("Back to the list").click();
    }
    for (const name of ["Sessions", "Overview", "Settings", "Rules", "History"]) {
      await page.getByRole("link", { name }).click();
      await page.getByRole("heading", { name, exact: true }).waitFor();
      expect({ name, width: await page.evaluate("document.documentElement.scrollWidth") }).toEqual({
        name,
        width: 375,
      });
    }
    const top = async (one: string) => (await page.locator(one).first().boundingBox())?.y ?? Number.NaN;
    await page.locator(".decision").first().waitFor();
    expect(await top(".decision")).toBeLessThan(0.6 * PHONE.viewport.height);
    expect(await top("main")).toBeLessThan(0.15 * PHONE.viewport.height);
  });

  test("can be used by keyboard alone, and says aloud what is new", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "make" });
    await person.page.getByRole("status").getByText("Bash of builder needs approval").waitFor({ state: "attached" });
    const allow = person.card.getByRole("button", { name: "Allow a", exact: true });
    for (let stops = 0; stops < 40 && !(await allow.evaluate((one) => one.matches(":focus"))); stops++)
      await person.press("Tab");
    expect(await allow.evaluate((one) => one.matches(":focus-visible"))).toBe(true);
    await person.press("Enter");
    await person.page.getByText("No pending requests").waitFor();
  });

  test("paints first within 200 ms, from less than 180 kB", async () => {
    await using plexus = await startPlexus();
    // From source, the page is bundled on the first request.
    await plexus.fetch("/", { token: null });
    await using person = await visitor(browser, plexus.url);
    // The fastest of several, because other tests may keep the machine busy.
    const paints: number[] = [];
    while (paints.length < 10 && Math.min(...paints) >= FIRST_PAINT_MS) {
      await person.page.goto("about:blank");
      await person.page.goto(plexus.url);
      await person.page.getByLabel("Token").waitFor();
      paints.push(Number(await until("the first paint", () => person.page.evaluate(FIRST_PAINT))));
    }
    expect(Math.min(...paints)).toBeLessThan(FIRST_PAINT_MS);
    const sizes = await Promise.all(["/", ...(await assetsOf(plexus))].map((path) => sizeOf(`${plexus.url}${path}`)));
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(180_000);
  });
});

async function fill(plexus: Plexus): Promise<void> {
  const reason = `Not ${"this ".repeat(40)}`;
  await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash(shutdown *)", reason, interrupt: true });
  await plexus.app.rules.add(OPERATOR, { decision: "ask", match: `Edit(./${"very/long/".repeat(20)}**)`, uses: 3 });
  await plexus.app.rules.add(OPERATOR, { decision: "allow", match: "WebSearch", mode: "shadow" });
  const child = await asker(plexus, "a session with quite a long name, as people give them");
  await child.ask("Bash", { command: "cd /etc && cat passwd | grep root > out; rm -rf $(ls)", description: "Look" });
  await child.ask("Write", {
    file_path: "/nowhere/very/long/path/to/some/file/that/has/to/wrap.txt",
    content: "a\nb\n",
  });
  await child.ask("WebFetch", { url: `https://example.com/${"a".repeat(200)}`, prompt: "Read it" });
  await child.ask("Edit", { file_path: "/nowhere/a.ts", old_string: "const a = 1;", new_string: "const b = 1;" });
  await child.ask("NotebookEdit", { notebook_path: "/a.ipynb", cell_id: "c1", new_source: "import os" });
  await child.ask("Agent", { description: "find it", prompt: "Look **closely**." });
  await child.ask("ExitPlanMode", { plan: "1. Remove the cache" });
  await child.ask("Skill", { skill: "release" });
  await child.ask("mcp__server__tool", { text: "x".repeat(10_000) });
  const options = [{ label: "One", description: "the first" }, { label: "Two" }];
  await child.ask("AskUserQuestion", { questions: [{ question: "Which?", header: "Pick", options }] });
  const other = await asker(plexus, "other");
  const { id } = await other.ask("Bash", { command: "true" });
  await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
}

async function assetsOf(plexus: Plexus): Promise<string[]> {
  const html = await (await plexus.fetch("/", { token: null })).text();
  return [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

/** The size as sent over the network. */
async function sizeOf(url: string): Promise<number> {
  const response = await fetch(url, { headers: { "accept-encoding": "br" }, decompress: false });
  return (await response.bytes()).length;
}

async function rowNames({ page }: Person): Promise<string[]> {
  await page.locator(".row-open b").nth(4).waitFor();
  return page.locator(".row-open b").allInnerTexts();
}
