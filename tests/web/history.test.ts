import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator } from "playwright-core";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { type Person, signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe.skipIf(CHROMIUM === undefined)("the history on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("takes in a decision as it is made, and only where the filter lets it through", async () => {
    await using plexus = await startPlexus();
    await decided(plexus, "first", 1);
    await using person = await signedIn(browser, plexus);
    await openHistory(person);
    await showsDecisions(person, 1);
    await decided(plexus, "second", 1);
    await showsDecisions(person, 2);
    await person.page.getByLabel("Session").selectOption("first");
    await showsDecisions(person, 1);
    const reread = person.page.waitForResponse(/status=resolved.*session_id=/);
    await decided(plexus, "third", 1);
    await reread;
    await person.page.getByLabel("Session").selectOption("second");
    await person.page.locator(".decision-list").getByText("make second-0.").waitFor();
    await showsDecisions(person, 1);
    await person.page.getByLabel("Session").selectOption("");
    await showsDecisions(person, 3);
    expect(person.complaints).toEqual([]);
  });

  test("is searched as a whole, by text and by day", async () => {
    await using plexus = await startPlexus();
    await decided(plexus, "needle", 1);
    await decided(plexus, "hay", 130);
    await using person = await signedIn(browser, plexus);
    const list = await openHistory(person);
    await person.press("/");
    await person.page.keyboard.type("NEEDLE");
    await showsDecisions(person, 1);
    await list.getByText("make needle-0.").waitFor();
    await person.page.getByLabel("To this day").fill("2020-01-31");
    await person.page.getByText("No matching decisions").waitFor();
    await person.page.getByRole("button", { name: "Clear the filters" }).click();
    await list.getByText("make hay-129.").waitFor();
    expect(await person.page.getByLabel("Search all decisions").inputValue()).toBe("");
    expect(person.complaints).toEqual([]);
  });

  test("leaves what is read in its place when decisions come in above it", async () => {
    await using plexus = await startPlexus();
    await decided(plexus, "many", 150);
    await using person = await signedIn(browser, plexus);
    const list = await openHistory(person);
    await list.evaluate((element) => element.scrollTo(0, 40 * 52 + 10));
    const row = list.locator(".row", { hasText: "make many-105." });
    const before = await topOf(row);
    const height = await list.evaluate((element) => element.scrollHeight);
    await row.getByRole("button").focus();
    await decided(plexus, "more", 5);
    await until("the new ones", () => list.evaluate((element, was) => element.scrollHeight > was, height));
    await until("the row to be where it was", async () => (await topOf(row)) === before);
    expect(await row.locator(":focus").count()).toBe(1);
    await list.evaluate((element) => element.scrollTo(0, 0));
    await list.getByText("make more-4.").waitFor();
  });

  test("says where an input, and an edited one, were removed to save space", async () => {
    await using plexus = await startPlexus();
    const { id } = await (await asker(plexus)).ask("Bash", { command: "make it" });
    const updated_input = { command: "make that" };
    await plexus.app.approvals.decide(OPERATOR, id, { approve: true, updated_input });
    using sqlite = new Database(join(plexus.dataDir, "plexus.db"));
    sqlite.run("UPDATE loopback_approvals SET input='{}', updated_input='{}', input_cut_at=5000");
    await using person = await signedIn(browser, plexus);
    const list = await openHistory(person);
    await list.getByText("(the input was removed to save space)").waitFor();
    await list.getByRole("button").first().click();
    const notes = person.page.getByRole("dialog").getByText("(the input was removed to save space)");
    await until("both notes", async () => (await notes.count()) === 2);
    expect(person.complaints).toEqual([]);
  });

  test("shows a decision with where its child worked and what was dangerous", async () => {
    await using plexus = await startPlexus();
    await using directory = await temporaryDirectory();
    const parent = await plexus.connect();
    const { value } = await parent.call("claudecode_create", { name: "worker", working_dir: directory.path });
    const session = await plexus.app.sessions.get(String(value["id"]));
    if (!session) throw new Error("the session was not made");
    using ask = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "sudo make it" } });
    await plexus.app.approvals.decide(OPERATOR, ask.approvalId, { approve: false });
    await using person = await signedIn(browser, plexus);
    const list = await openHistory(person);
    await list.getByRole("button").first().click();
    const dialog = person.page.getByRole("dialog");
    await dialog.getByRole("list", { name: "Dangers" }).getByText("runs as root (sudo)").waitFor();
    await dialog.getByText(`in ${realpathSync(directory.path)}`).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("says which rule has decided, with a link to it, and what the brake is", async () => {
    await using plexus = await startPlexus();
    const session = await plexus.app.sessions.createByHand(OPERATOR, "ruled");
    const {
      rule: { id },
    } = await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash(npm *)" });
    const asked = { tool_name: "Bash", input: { command: "npm test" } };
    using _ = await plexus.app.approvals.request(session, asked);
    await decided(plexus, "braked", 1);
    using sqlite = new Database(join(plexus.dataDir, "plexus.db"));
    sqlite.run("UPDATE loopback_approvals SET resolved_by='brake' WHERE resolved_by='operator'");
    await using person = await signedIn(browser, plexus);
    const list = await openHistory(person);
    await list.locator(".row", { hasText: "the brake" }).getByRole("button").click();
    const dialog = person.page.getByRole("dialog");
    await dialog.getByText("denied three times in a row").waitFor();
    await person.press("Escape");
    await list.locator(".row", { hasText: "a rule" }).getByRole("button").click();
    await dialog.getByRole("link", { name: "a rule" }).click();
    await person.page.locator(".rule.linked", { hasText: "Bash(npm *)" }).waitFor();
    expect(person.page.url()).toEndWith(`#/rules/${id}`);
    expect(person.complaints).toEqual([]);
  });

  test("shows what was answered, from its beginning", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    const questions = [
      { question: "Which database?", header: "DB", multiSelect: false, options: [{ label: "SQLite" }] },
    ];
    const { id } = await child.ask("AskUserQuestion", { questions });
    const updated_input = { questions, answers: { "Which database?": "None at all" } };
    await plexus.app.approvals.decide(OPERATOR, id, { approve: true, updated_input });
    await using person = await signedIn(browser, plexus);
    const list = await openHistory(person);
    await list.getByRole("button").first().click();
    await person.page.getByRole("dialog").getByText("None at all", { exact: true }).waitFor();
    expect(await person.page.getByRole("dialog").evaluate((dialog) => dialog.scrollTop)).toBe(0);
  });
});

/** Makes this many requests in a session of this name, and denies them one by one. */
async function decided(plexus: Plexus, name: string, count: number): Promise<void> {
  const session = await plexus.app.sessions.createByHand(OPERATOR, name);
  for (let at = 0; at < count; at++) {
    const asked = { tool_name: "Bash", input: { command: `make ${name}-${at}.` } };
    using ask = await plexus.app.approvals.request(session, asked);
    await plexus.app.approvals.decide(OPERATOR, ask.approvalId, { approve: false });
  }
}

async function openHistory({ page }: Person): Promise<Locator> {
  await page.getByRole("link", { name: "History" }).click();
  const list = page.locator(".decision-list");
  await list.locator(".row").first().waitFor();
  return list;
}

async function showsDecisions({ page }: Person, count: number): Promise<void> {
  await until(`${count} decisions`, async () => (await page.locator(".decision-list .row").count()) === count);
}

async function topOf(row: Locator): Promise<number | undefined> {
  return (await row.boundingBox())?.y;
}
