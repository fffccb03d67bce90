import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import type { Plexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

/** A person who uses the page. */
export type Person = AsyncDisposable & {
  page: Page;
  /** The rows of the inbox. */
  rows: Locator;
  card: Locator;
  press(...keys: string[]): Promise<void>;
  /** Everything that the browser reported: script errors, and violations of the page's CSP. */
  complaints: string[];
  /** Requests to any other address than the server. */
  strayRequests: string[];
};

type Server = Pick<Plexus, "url"> & { app: Pick<Plexus["app"], "signIn"> };

/** Opens the page as an operator after `plexus open`. */
export async function signedIn(browser: Browser, plexus: Server, options: BrowserContextOptions = {}): Promise<Person> {
  const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
  const person = await visitor(browser, plexus.url, options);
  await person.page.goto(`${plexus.url}/#code=${code}`);
  await person.page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  return person;
}

/** A new browser profile without any page. */
export async function visitor(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Person> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const strayRequests: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // While the server is away, the browser reports that, as it should.
    if (message.type() === "error" && !message.text().includes("net::ERR")) complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) strayRequests.push(request.url());
  });
  return {
    page,
    rows: page.locator(".request-list .row"),
    card: page.locator(".card"),
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    complaints,
    strayRequests,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Holds the key down for longer than one press lasts. */
const PATIENCE_MS = 700;

/** Presses the key until it has an effect, with pauses as a person would make. */
export async function pressUntil(what: string, press: () => Promise<void>, condition: () => Promise<boolean>) {
  await until(what, async () => {
    await press();
    return until(what, condition, PATIENCE_MS).catch(() => false);
  });
}

/** Waits until the list has this many rows. */
export async function showsRows({ rows }: Person, count: number): Promise<void> {
  await until(`${count} rows`, async () => (await rows.count()) === count);
}
