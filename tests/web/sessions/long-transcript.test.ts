import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Locator } from "playwright-core";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { type Person, signedIn } from "../support/person.ts";
import { storeTurns } from "../support/stored-transcript.ts";

setDefaultTimeout(60_000);

/** A list that streams item by item. */
const PIECES: TurnEvent[] = Array.from({ length: 90 }, (_, at) => ({ type: "content", text: `- item ${at}\n` }));
/** Long enough for several screens. */
const WORK: TurnEvent[] = Array.from({ length: 60 }, (_, at) => {
  const output = `${`line of ${at}\n`.repeat(5)}end of ${at}`;
  return { type: "tool_result", tool_use_id: `t${at}`, output, is_error: false, approval_id: null };
});
const TURNS = [
  { prompt: "the first task", events: WORK },
  { prompt: "the second task", events: [{ type: "content", text: "a word of the second" } as const, ...WORK] },
  { prompt: "the third task", events: [...PIECES, ...WORK] },
];

describe.skipIf(CHROMIUM === undefined)("a long transcript", () => {
  let browser: Browser;
  let plexus: Plexus;
  let person: Person;
  let stored: { sessionId: string; turnIds: string[] };
  const cleanup = new AsyncDisposableStack();
  beforeAll(async () => {
    browser = cleanup.adopt(await startBrowser(), (one) => one.close());
    const directory = cleanup.use(await temporaryDirectory());
    stored = storeTurns(directory.path, TURNS);
    plexus = cleanup.use(await startPlexus({ dataDir: directory.path }));
    person = cleanup.use(await signedIn(browser, plexus, { timezoneId: "UTC" }));
  });
  afterAll(() => cleanup.disposeAsync());

  const open = (rest: string) => person.page.goto(`${plexus.url}/#/sessions/${stored.sessionId}${rest}`);
  /** Whether its last line is in view. */
  const isInView = (one: Locator) =>
    one.evaluate((element) => {
      const { bottom } = element.getBoundingClientRect();
      const view = element.closest(".transcript")?.getBoundingClientRect();
      return view !== undefined && bottom >= view.top && bottom <= view.bottom;
    });
  const comesIntoView = (what: string, one: Locator) =>
    until(what, async () => (await one.count()) === 1 && isInView(one));

  test("shows the turn or the message that the address names, whatever was in view before", async () => {
    const { page } = person;
    const [first, second] = stored.turnIds;
    await open("");
    await page.getByText("end of 59").waitFor();
    await open(`/turns/${second}`);
    await comesIntoView("the second task", page.locator(".prompt", { hasText: "the second task" }));
    await open(`/turns/${first}/31`);
    await comesIntoView("the message", page.locator(".placed.target", { hasText: "end of 30" }));
    await open(`/turns/${second}/40`);
    await comesIntoView("the other message", page.locator(".placed.target", { hasText: "end of 38" }));
    expect(person.complaints).toEqual([]);
  });

  test("links the time of each message to its address, which another tab shows until somebody scrolls", async () => {
    const { page } = person;
    await open(`/turns/${stored.turnIds[1]}`);
    const said = page.locator(".placed", { hasText: "a word of the second" });
    const address = `#/sessions/${stored.sessionId}/turns/${stored.turnIds[1]}/1`;
    expect(await said.getByRole("link").getAttribute("href")).toBe(address);
    await using other = await signedIn(browser, plexus);
    await other.page.goto(`${plexus.url}/${address}`);
    await comesIntoView("the message", other.page.locator(".placed.target", { hasText: "a word of the second" }));
    await other.page.getByRole("log", { name: "Transcript" }).evaluate((element) => element.scrollBy(0, 3_000));
    await until(
      "another place",
      async () => !(await isInView(other.page.locator(".placed.target")).catch(() => false)),
    );
    expect(other.complaints).toEqual([]);
  });

  test("says so where the address names a turn that is not in it", async () => {
    await open("/turns/0198a7c2-0000-7000-8000-000000000000");
    await person.page.getByText("not in this session, or not any more").waitFor();
  });

  test("shows a text as one, however many pieces it came in", async () => {
    const { page } = person;
    await open(`/turns/${stored.turnIds[2]}`);
    const list = page.locator(".said ul", { hasText: "item 0" });
    await until("the whole list", async () => (await list.locator("li").count()) === PIECES.length);
    expect(await page.locator(".said ul").count()).toBe(1);
  });

  test("is searched as a whole from the field that / leads to, and shows each hit", async () => {
    const { page } = person;
    await open("");
    await page.getByText("end of 59").last().waitFor();
    await person.press("/");
    const field = page.getByLabel("Search the whole transcript");
    await until("the field", () => field.evaluate((one) => one.matches(":focus")));
    await page.keyboard.type("END of 42");
    const hits = page.locator(".hit-list li");
    await until("a hit in each turn", async () => (await hits.count()) === 3);
    await page.getByText("3 hits, the newest first").waitFor();
    expect(await hits.first().locator("mark").textContent()).toBe("end of 42");
    await person.press("Enter", "Enter");
    await page.getByText("2 of 3 hits").waitFor();
    const shown = page.locator(".placed.target", { hasText: "end of 42" });
    await comesIntoView("the hit in the second turn", shown);
    expect(page.url()).toContain(`/turns/${stored.turnIds[1]}/44`);
    expect(await page.evaluate("[...CSS.highlights.get('found')].map(String)")).toEqual(["end of 42"]);
    await page.getByRole("log", { name: "Transcript" }).evaluate((element) => element.scrollBy(0, -5_000));
    await until("another place", async () => !(await isInView(shown).catch(() => false)));
    await hits.nth(1).click();
    await comesIntoView("the hit, once more", shown);
    await field.fill("nowhere in it");
    await page.getByText("Nothing in this session matches").waitFor();
    await field.press("Escape");
    await page.locator(".hits").waitFor({ state: "detached" });
    expect(person.complaints).toEqual([]);
  });

  test("has its last turn linked in the list of sessions", async () => {
    const { page } = person;
    await page.goto(`${plexus.url}/#/sessions`);
    await page.getByRole("row", { name: /long/ }).getByRole("link").nth(1).click();
    await comesIntoView("the third task", page.locator(".prompt", { hasText: "the third task" }));
  });
});
