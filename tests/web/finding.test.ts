import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { type Person, showsRows, signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe.skipIf(CHROMIUM === undefined)("finding one's way on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("two keys lead to every page from anywhere, but not out of a field", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    for (const [key, name] of Object.entries({ s: "Sessions", h: "History", r: "Rules", i: "Inbox" })) {
      await person.press("g", key);
      await person.page.getByRole("heading", { name, exact: true }).waitFor({ state: "attached" });
    }
    await person.press("g", "h");
    await person.page.getByLabel("Search all decisions").waitFor();
    await person.press("/");
    await until("the field", () =>
      person.page.getByLabel("Search all decisions").evaluate((one) => one.matches(":focus")),
    );
    await person.page.keyboard.type("gs?");
    expect(await person.page.getByLabel("Search all decisions").inputValue()).toBe("gs?");
    expect(person.page.url()).toEndWith("#/history");
    expect(person.complaints).toEqual([]);
  });

  test("the help lists every key of the page and of requests", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    await person.press("?");
    const help = person.page.getByRole("dialog");
    for (const text of ["go to History", "new session", "find a session", "oldest request", "this help"])
      await help.getByText(text).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("a few letters find a request, a session, a page and a command", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "night builder");
    await child.ask("Bash", { command: "make first" });
    const { id } = await child.ask("Bash", { command: "make second" });
    await using person = await signedIn(browser, plexus);
    await showsRows(person, 2);
    await chosen(person, "mksecond");
    await person.card.getByText("make second").first().waitFor();
    expect(person.page.url()).toEndWith(`#/inbox/${id}`);
    await chosen(person, "nightb");
    await person.page.getByRole("heading", { name: "night builder" }).waitFor();
    await chosen(person, "histo");
    await person.page.getByRole("heading", { name: "History", exact: true }).waitFor();
    await chosen(person, "dark");
    await until("dark colours", () => person.page.evaluate("document.documentElement.dataset.theme === 'dark'"));
    await chosen(person, "new sess");
    await person.page.getByRole("heading", { name: "New session" }).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("the address of a request shows it, also once it is decided, and says when there is none", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    await child.ask("Bash", { command: "make first" });
    const { id } = await child.ask("Write", { file_path: "/srv/two.txt", content: "two" });
    await using person = await signedIn(browser, plexus);
    await showsRows(person, 2);
    await person.page.goto(`${plexus.url}/#/inbox/${id}`);
    await person.card.getByRole("heading", { name: "Write" }).waitFor();
    await plexus.app.approvals.decide(OPERATOR, id, { approve: false, message: "Not there" });
    await person.card.getByText("Not there").waitFor();
    await person.page.reload();
    await person.card.getByText("Not there").waitFor();
    await person.page.goto(`${plexus.url}/#/inbox/nobody-knows-it`);
    await person.page.getByRole("alert").getByText("This request can't be shown").waitFor();
    expect(person.page.url()).toEndWith("#/inbox");
  });

  test("sessions are listed by what needs somebody, then the last active one", async () => {
    await using plexus = await startPlexus();
    const waiting = await asker(plexus, "waiting");
    await waiting.ask("Bash", { command: "make" });
    for (const name of ["one", "two"]) await plexus.app.sessions.createByHand(OPERATOR, name);
    await using person = await signedIn(browser, plexus);
    await person.press("g", "s");
    await person.page.locator("tbody tr").nth(2).waitFor();
    const names = await person.page.locator("tbody tr td:first-child a").allInnerTexts();
    expect(names[0]).toBe("waiting");
  });
});

/** Types into the palette and takes the first offer. */
async function chosen(person: Person, typed: string): Promise<void> {
  await person.press("Control+k");
  await person.page.getByLabel("A page, session, request or command").fill(typed);
  await person.press("Enter");
  await person.page.getByRole("heading", { name: "Go to or do" }).waitFor({ state: "hidden" });
}
