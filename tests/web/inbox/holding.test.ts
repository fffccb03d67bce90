import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { violationsOn } from "../support/axe.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { type Person, pressUntil, showsRows, signedIn } from "../support/person.ts";
import { asker } from "../support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe.skipIf(CHROMIUM === undefined)("a denial on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("is sent after three seconds that a toast counts, and is a decision of nobody before", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    await stopTime(person);
    await deny(person, "Not now");
    await toast(person, "Denying Bash of builder in 3 s").waitFor();
    await person.page.getByRole("status").getByText("press z to take it back").waitFor({ state: "attached" });
    await person.card.getByText("Denying in 3 s").waitFor();
    await passSeconds(person, 2);
    await toast(person, "in 1 s").waitFor();
    expect(await statusOf(plexus, id)).toBe("pending");
    await passSeconds(person, 1);
    await toast(person, "Denied Bash of builder").waitFor();
    expect((await answer).value).toEqual({ behavior: "deny", message: "Not now" });
    await person.page.getByText("No pending requests").waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("is taken back by the key z, and the request needs approval as before", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const [first, second] = [
      await child.ask("Bash", { command: "make one" }),
      await child.ask("Bash", { command: "make two" }),
    ];
    await showsRows(person, 2);
    await stopTime(person);
    await person.press("g", "g");
    await deny(person);
    await person.card.locator(".command", { hasText: "make two" }).waitFor();
    await person.press("z");
    await person.card.locator(".command", { hasText: "make one" }).waitFor();
    expect(await toast(person, "Denying").count()).toBe(0);
    await passSeconds(person, 60);
    expect([await statusOf(plexus, first.id), await statusOf(plexus, second.id)]).toEqual(["pending", "pending"]);
    const isAllowed = async () => (await statusOf(plexus, first.id)) === "allowed";
    await pressUntil("the allow", () => person.press("a"), isAllowed);
    expect(await statusOf(plexus, second.id)).toBe("pending");
  });

  test("never becomes an allow: what is about to be denied can't be allowed, nor a press beside it count for another", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const [first, second] = [
      await child.ask("Bash", { command: "make one" }),
      await child.ask("Bash", { command: "make two" }),
    ];
    await showsRows(person, 2);
    await stopTime(person);
    await person.press("g", "g");
    await deny(person);
    // The next request has just appeared, so this press was not meant for it.
    await person.press("a");
    await person.rows.first().getByRole("button").click();
    await person.card.getByText("Denying in 3 s").waitFor();
    await passSeconds(person, 1);
    await person.press("a", "A", "e", "d", "x");
    expect(await person.page.getByRole("dialog").count()).toBe(0);
    expect(await person.card.getByRole("button", { name: "Allow" }).count()).toBe(0);
    await person.page.getByLabel("Select all").check();
    expect(await person.page.getByText("1 selected").count()).toBe(1);
    await passSeconds(person, 2);
    expect((await first.answer).value["behavior"]).toBe("deny");
    expect(await statusOf(plexus, second.id)).toBe("pending");
  });

  test("of several that are selected is one toast, whose button takes all of them back", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const asked = [await child.ask("Bash", { command: "make a" }), await child.ask("Bash", { command: "make b" })];
    const other = await child.ask("Bash", { command: "make c" });
    await showsRows(person, 3);
    await stopTime(person);
    await person.press("g", "g", "x", "j", "x");
    await deny(person);
    await person.press("G");
    await passSeconds(person, 1);
    await deny(person);
    expect(await toast(person, "Denying").allInnerTexts()).toEqual([
      expect.stringContaining("Denying 2 requests in 2 s"),
      expect.stringContaining("Denying Bash of builder in 3 s"),
    ]);
    await toast(person, "Denying 2 requests").getByRole("button", { name: "Take back" }).click();
    await passSeconds(person, 10);
    expect((await other.answer).value["behavior"]).toBe("deny");
    await person.page.getByText("2 requests need approval").waitFor();
    for (const { id } of asked) expect(await statusOf(plexus, id)).toBe("pending");
  });

  test.each([
    ["closed", ({ page }: Person) => page.close()],
    ["left for another", async ({ page }: Person) => void (await page.goto("about:blank"))],
    ["loaded anew", async ({ page }: Person) => void (await page.reload())],
    ["hidden", hide],
    // Some browsers report nothing else when a page closes.
    ["put away", async ({ page }: Person) => void (await page.evaluate("dispatchEvent(new Event('pagehide'))"))],
    ["signed out of", ({ page }: Person) => page.getByLabel("Sign out").click()],
  ])("is sent at once when the page is %s", async (_, leave) => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const asked = [await child.ask("Bash", { command: "make a" }), await child.ask("Bash", { command: "make b" })];
    const last = await child.ask("Bash", { command: "make c" });
    await showsRows(person, 3);
    await stopTime(person);
    await person.press("g", "g", "x", "j", "x");
    await deny(person, "Not these");
    await person.press("G");
    await deny(person, "Nor this");
    await toast(person, "Denying Bash of builder").waitFor();
    for (const { id } of [...asked, last]) expect(await statusOf(plexus, id)).toBe("pending");
    await leave(person);
    for (const { answer } of asked) expect((await answer).value["message"]).toBe("Not these");
    expect((await last.answer).value["message"]).toBe("Nor this");
  });

  test("reaches the server from a page that is closed before it had a connection to spare", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    await stopTime(person);
    await deny(person, "Not now");
    await toast(person, "Denying").waitFor();
    // A browser has six connections to a server: the page's stream uses one, and these use the others.
    await person.page.evaluate(async () => {
      const headers = { Authorization: `Bearer ${sessionStorage.getItem("plexus-token")}` };
      const stream = () => fetch("/api/v1/events", { headers, cache: "no-store", credentials: "omit" });
      const streams = await Promise.all(Array.from({ length: 5 }, stream));
      // Keep a reference, because an unreferenced stream is closed.
      Object.assign(globalThis, { streams });
    });
    await person.page.close();
    expect((await answer).value["message"]).toBe("Not now");
  });

  test("gives way to somebody who decides meanwhile, and says what they did", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    await stopTime(person);
    await deny(person);
    await toast(person, "Denying").waitFor();
    await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
    expect((await answer).value["behavior"]).toBe("allow");
    await toast(person, "Bash of builder was not denied by you: allowed by operator before").waitFor();
    expect(await toast(person, "Denying").count()).toBe(0);
    await person.card.getByText("allowed", { exact: true }).waitFor();
  });

  test("says so when the server learnt of it too late, although no event told of that", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    await stopTime(person);
    await person.page.route("**/respond", async (route) => {
      await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
      await route.continue();
    });
    await deny(person);
    await passSeconds(person, 3);
    await toast(person, "Bash of builder was not denied by you: allowed by operator before").waitFor();
    expect(await toast(person, "Denied Bash").count()).toBe(0);
  });

  test("that the server does not hear of leaves the request open, and the page says so", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    await stopTime(person);
    await person.page.route("**/respond", (route) => route.abort());
    await deny(person);
    await passSeconds(person, 3);
    await person.page.getByRole("alert").getByText("Bash of builder was not decided").waitFor();
    await person.card.getByRole("button", { name: "Allow a", exact: true }).waitFor();
    expect(await statusOf(plexus, id)).toBe("pending");
  });

  test("of a request whose time is nearly up is sent at once", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    await stopTime(person);
    // The request expires after five minutes.
    await person.page.evaluate("{ const now = Date.now; Date.now = () => now() + 295_000; }");
    await deny(person, "Too late for that");
    expect((await answer).value["message"]).toBe("Too late for that");
  });

  test("that another tab's sign-out has kept from being sent is told, and the request stays open", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id } = await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    const tab = await person.page.context().newPage();
    await tab.goto(plexus.url);
    await stopTime(person);
    await deny(person);
    await toast(person, "Denying").waitFor();
    await tab.getByLabel("Sign out").click();
    await person.page.getByRole("alert").getByText("signed out before a denial was sent").waitFor();
    expect(await statusOf(plexus, id)).toBe("pending");
  });

  test.each(["light", "dark"] as const)(
    "that is held can be read by everybody, in %s colours and on a phone",
    async (colorScheme) => {
      await using plexus = await startPlexus();
      const child = await asker(plexus, "a session with quite a long name, as people give them");
      const viewport = { width: 375, height: 700 };
      await using person = await signedIn(browser, plexus, { colorScheme, viewport, bypassCSP: true });
      await child.ask("mcp__a_server_with_a_name__a_tool_with_another", { item: "tea" });
      await child.ask("Bash", { command: "make" });
      await showsRows(person, 2);
      await person.rows.first().getByRole("button").click();
      await stopTime(person);
      await deny(person);
      await toast(person, "Denying").waitFor();
      expect(await violationsOn(person.page)).toEqual([]);
      expect(await person.page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    },
  );
});

/** From now on, the page's every-second work runs only when the test says so. */
async function stopTime({ page }: Person): Promise<void> {
  await page.evaluate(() => {
    const running = new Map<number, () => void>();
    let last = 0;
    Object.assign(globalThis, {
      setInterval: (tick: () => void) => {
        running.set(++last, tick);
        return last;
      },
      clearInterval: (id: number) => running.delete(id),
      passSecond: () => {
        for (const tick of [...running.values()]) tick();
      },
    });
  });
}

async function passSeconds({ page }: Person, count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await page.evaluate("passSecond()");
}

async function deny(person: Person, reason = ""): Promise<void> {
  await person.press("d");
  await person.page.getByLabel(/Reason/).fill(reason);
  await person.press("Enter");
  await person.page.getByLabel(/Reason/).waitFor({ state: "detached" });
}

function toast({ page }: Person, text: string) {
  return page.locator(".toast", { hasText: text });
}

async function statusOf(plexus: Plexus, id: string): Promise<string> {
  return (await plexus.app.approvals.get(OPERATOR, id)).status;
}

async function hide({ page }: Person): Promise<void> {
  await page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })");
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
}
