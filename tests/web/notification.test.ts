import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { z } from "zod";
import { startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { type Person, showsRows, signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

type Permission = "granted" | "denied";
const Shown = z.array(z.strictObject({ title: z.string(), body: z.string() }));

describe.skipIf(CHROMIUM === undefined)("a notification of the browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("tells of a new request while nobody looks, and a click on it opens that request", async () => {
    await using plexus = await startPlexus();
    const [older, newer] = [await asker(plexus, "older"), await asker(plexus, "newer")];
    await older.ask("Bash", { command: "make one" });
    await using person = await signedIn(browser, plexus);
    await record(person, "granted");
    await person.page.getByLabel("Notifications: off").click();
    await person.page.getByLabel("Notifications: on").waitFor();
    await person.page.getByRole("link", { name: "History" }).click();
    await hide(person);
    await newer.ask("Write", { file_path: "/srv/two.txt", content: "two" });
    await until("the notification", async () => (await shown(person)).length > 0);
    expect(await shown(person)).toEqual([{ title: "Plexus", body: "Write of newer needs approval" }]);
    await person.page.evaluate("shownNotifications.at(-1).onclick()");
    await person.card.getByRole("heading", { name: "Write" }).waitFor();
    expect(await person.page.evaluate("focusedTimes")).toBe(1);
    expect(person.complaints).toEqual([]);
  });

  test("is not shown to somebody who looks at the page", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await record(person, "granted");
    await person.page.getByLabel("Notifications: off").click();
    await person.page.getByLabel("Notifications: on").waitFor();
    await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    expect(await shown(person)).toEqual([]);
  });

  test("is not shown where nobody asked for it", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await record(person, "granted");
    await hide(person);
    await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    expect(await shown(person)).toEqual([]);
  });

  test("is not shown where the browser forbids it, which the page says", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await record(person, "denied");
    await person.page.getByLabel("Notifications: off").click();
    await person.page.getByText("This browser does not let Plexus show notifications").waitFor();
    await hide(person);
    await child.ask("Bash", { command: "make" });
    await showsRows(person, 1);
    expect(await shown(person)).toEqual([]);
    expect(await person.page.title()).toBe("(1) Plexus");
  });
});

describe.skipIf(CHROMIUM === undefined)("the sound of a new request", () => {
  test("is heard only where it was turned on, which this browser remembers", async () => {
    await using browser = await startBrowser();
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.addInitScript(`globalThis.heard = 0;
      OscillatorNode.prototype.start = () => { globalThis.heard++; };
      OscillatorNode.prototype.stop = () => {};`);
    await page.goto(`${plexus.url}/#/settings`);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    const badge = (count: number) => page.getByRole("link", { name: `Inbox ${count}` }).waitFor();
    await child.ask("Bash", { command: "make" });
    await badge(1);
    expect(await page.evaluate("heard")).toBe(0);
    await page.getByLabel("Play a sound for new requests").check();
    const tones = Number(await page.evaluate("heard"));
    expect(tones).toBeGreaterThan(0);
    await child.ask("Bash", { command: "make more" });
    await badge(2);
    expect(await page.evaluate("heard")).toBe(2 * tones);
    await page.reload();
    await badge(2);
    expect(await page.getByLabel("Play a sound for new requests").isChecked()).toBe(true);
    expect(person.complaints).toEqual([]);
  });
});

/** Records notifications, which a headless browser shows nowhere. */
async function record({ page }: Person, permission: Permission): Promise<void> {
  await page.evaluate((answer) => {
    const shownNotifications: object[] = [];
    class Recorded {
      static permission = answer;
      static requestPermission = async () => answer;
      title: string;
      body: string;
      constructor(title: string, { body }: { body: string }) {
        this.title = title;
        this.body = body;
        shownNotifications.push(this);
      }
      close() {}
    }
    Object.assign(globalThis, { Notification: Recorded, shownNotifications, focusedTimes: 0 });
    Object.assign(globalThis, { focus: () => Object.assign(globalThis, { focusedTimes: 1 }) });
  }, permission);
}

async function hide({ page }: Person): Promise<void> {
  await page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })");
}

async function shown({ page }: Person): Promise<z.infer<typeof Shown>> {
  return Shown.parse(await page.evaluate("shownNotifications.map(({ title, body }) => ({ title, body }))"));
}
