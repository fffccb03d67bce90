import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { OPERATOR_TOKEN, startPlexus } from "../support/server/plexus.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { showsRows, signedIn, visitor } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

describe.skipIf(CHROMIUM === undefined)("signing in", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("takes the code out of the address, and keeps a token for this tab alone", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    expect(person.page.url()).toBe(`${plexus.url}/#/inbox`);
    expect(await person.page.evaluate("document.cookie")).toBe("");
    expect(await person.page.evaluate("sessionStorage.length")).toBe(1);
    expect(await person.page.evaluate("JSON.stringify(localStorage)")).not.toContain("plx_");
    await person.page.reload();
    await person.page.getByText("No pending requests").waitFor();
    expect(person.complaints).toEqual([]);
    expect(person.strayRequests).toEqual([]);
  });

  test("is shared with other tabs of the browser, and ends in all of them", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const second = await person.page.context().newPage();
    await second.goto(`${plexus.url}/#/sessions`);
    await second.getByRole("heading", { name: "Sessions" }).waitFor();
    expect(await second.evaluate("document.cookie + JSON.stringify(localStorage)")).not.toContain("plx_");
    await using stranger = await visitor(browser, plexus.url);
    await stranger.page.goto(plexus.url);
    await stranger.page.getByLabel("Token").waitFor();
    const token = String(await second.evaluate("sessionStorage.getItem('plexus-token')"));
    await second.getByLabel("Sign out").click();
    for (const page of [person.page, second]) {
      await page.getByLabel("Token").waitFor();
      expect(await page.evaluate("sessionStorage.length")).toBe(0);
    }
    expect((await plexus.fetch("/api/v1/me", { token })).status).toBe(401);
    expect(person.complaints).toEqual([]);
  });

  test("works once with a code", async () => {
    await using plexus = await startPlexus();
    const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
    await plexus.app.signIn.redeem(code);
    await using person = await visitor(browser, plexus.url);
    await person.page.goto(`${plexus.url}/#code=${code}`);
    await person.page.getByText("This code was used before, or is too old").waitFor();
  });

  test("takes a link that is pasted into the open page, and a used one changes nothing there", async () => {
    await using plexus = await startPlexus();
    await using person = await visitor(browser, plexus.url);
    const { page } = person;
    await page.goto(plexus.url);
    await page.getByLabel("Token").waitFor();
    const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
    await page.goto(`${plexus.url}/#code=${code}`);
    await page.getByText("No pending requests").waitFor();
    expect(page.url()).toBe(`${plexus.url}/#/inbox`);
    await page.goto(`${plexus.url}/#code=${code}`);
    await page.getByRole("alert").getByText("This code was used before").waitFor();
    expect(page.url()).toBe(`${plexus.url}/#/inbox`);
    await page.getByText("Live", { exact: true }).waitFor();

    const { token } = await plexus.app.tokens.createNamed("night-shift");
    const maker = (await plexus.app.tokens.identify(token))?.principal;
    if (maker?.kind !== "token") throw new Error("a named token is a token");
    await page.goto(`${plexus.url}/#code=${(await plexus.app.signIn.newCode(maker)).code}`);
    await page.getByText("token:night-shift").waitFor();
  });

  test("takes a link in a tab whose token was revoked", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await page.goto("about:blank");
    await plexus.app.signIn.endAll();
    await page.goto(`${plexus.url}/#code=${(await plexus.app.signIn.newCode({ kind: "operator" })).code}`);
    await page.getByText("No pending requests").waitFor();
  });

  test("takes a token that is pasted, and refuses a wrong one", async () => {
    await using plexus = await startPlexus();
    await using person = await visitor(browser, plexus.url);
    await person.page.goto(plexus.url);
    await person.page.getByLabel("Token").fill("not-a-token-of-anybody");
    await person.press("Enter");
    await person.page.getByText("This token is not known here").waitFor();
    await person.page.getByLabel("Token").fill(OPERATOR_TOKEN);
    await person.press("Enter");
    await person.page.getByText("No pending requests").waitFor();
    // The page made its own token from the pasted one, and that token ends with the page.
    const kept = await person.page.evaluate("JSON.stringify([sessionStorage, localStorage])");
    expect(kept).toContain("plx_");
    expect(kept).not.toContain(OPERATOR_TOKEN);
  });

  test("takes a link that is pasted where a token would be, as into an app that was installed", async () => {
    await using plexus = await startPlexus();
    await using person = await visitor(browser, plexus.url);
    await person.page.goto(`${plexus.url}/#/sessions`);
    const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
    await person.page.getByLabel("Token").fill(`https://plexus.example.org/#code=${code}`);
    await person.press("Enter");
    await person.page.getByRole("heading", { name: "Sessions" }).waitFor();
  });

  test("lasts beyond the tab where the person wants it, until somebody signs out", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const context = person.page.context();
    const stay = () => context.pages()[0]?.getByLabel("Stay signed in here when the page is closed");
    const reopened = async () => {
      const page = await context.newPage();
      for (const other of context.pages()) if (other !== page) await other.close();
      await page.goto(`${plexus.url}/#/settings`);
      return page;
    };
    await person.page.goto(`${plexus.url}/#/settings`);
    await stay()?.check();
    await (await reopened()).getByRole("heading", { name: "Settings" }).waitFor();
    await stay()?.uncheck();
    await (await reopened()).getByLabel("Token").waitFor();
    const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
    await context.pages()[0]?.goto(`${plexus.url}/#code=${code}`);
    await context.pages()[0]?.getByRole("link", { name: "Settings" }).click();
    await stay()?.check();
    const page = await reopened();
    await page.getByLabel("Sign out").click();
    await page.getByLabel("Token").waitFor();
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("plx_");
    await (await reopened()).getByLabel("Token").waitFor();
  });

  test("ends when the person signs out, and with it the token", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const token = String(await person.page.evaluate("sessionStorage.getItem('plexus-token')"));
    expect((await plexus.fetch("/api/v1/me", { token })).status).toBe(200);
    await person.page.getByLabel("Sign out").click();
    await person.page.getByLabel("Token").waitFor();
    expect((await plexus.fetch("/api/v1/me", { token })).status).toBe(401);
  });

  test("ends on every open page at once when all are signed out, with all that they showed", async () => {
    await using plexus = await startPlexus();
    const { token: named } = await plexus.app.tokens.createNamed("night-shift");
    const child = await asker(plexus);
    await child.ask("Bash", { command: "make secret-thing" });
    await using first = await signedIn(browser, plexus);
    await using second = await signedIn(browser, plexus);
    for (const person of [first, second]) await showsRows(person, 1);
    const response = await plexus.fetch("/api/v1/tokens?kind=web", { method: "DELETE" });
    expect(await response.json()).toEqual({ type: "signed_out", pages: 2 });
    for (const { page } of [first, second]) {
      await page.getByText("This token is not known here, or was revoked").waitFor();
      expect(await page.title()).toBe("Plexus");
      expect(await page.evaluate("sessionStorage.length")).toBe(0);
    }
    await first.page.getByLabel("Token").fill(named);
    await first.press("Enter");
    await first.page.getByText("No pending requests").waitFor();
    expect(await first.page.locator("body").textContent()).not.toContain("secret-thing");
  });

  test("is not needed where the server needs no tokens", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    await using person = await visitor(browser, plexus.url);
    await person.page.goto(plexus.url);
    await person.page.getByText("No pending requests").waitFor();
  });
});
