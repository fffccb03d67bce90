import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { z } from "zod";
import { startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { signedIn } from "./support/person.ts";

setDefaultTimeout(60_000);

const Manifest = z.object({ scope: z.string(), display: z.string(), icons: z.array(z.object({ src: z.string() })) });
const ACTIVE = "navigator.serviceWorker.getRegistration().then((one) => one?.active?.state)";
/** The result when a script of the page tries to register another worker. */
const OTHER_SCRIPTS = `Promise.all(["/worker.js", "/assets/icon.svg", "https://example.org/worker.js"].map(async (url) => {
  try {
    trustedTypes.createPolicy("plexus-worker", { createScriptURL: (text) => text });
    return "made a policy";
  } catch {}
  return navigator.serviceWorker.register(url).then(() => "registered", ({ name }) => name);
}))`;

describe.skipIf(CHROMIUM === undefined)("the page as an app", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("can be installed, and its worker keeps nothing", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    await until("the worker", async () => (await page.evaluate(ACTIVE)) === "activated");
    const devtools = await page.context().newCDPSession(page);
    const { url, errors } = await devtools.send("Page.getAppManifest");
    expect({ url, errors }).toEqual({ url: `${plexus.url}/manifest.webmanifest`, errors: [] });
    // A temporary profile installs nothing.
    const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    expect(await page.evaluate("caches.keys()")).toEqual([]);
    expect(await page.evaluate("indexedDB.databases()")).toEqual([]);
    expect(await page.evaluate("document.cookie")).toBe("");
    expect(person.complaints).toEqual([]);
    expect(person.strayRequests).toEqual([]);
  });

  test("lets no script of the page register another worker", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    expect(await person.page.evaluate(OTHER_SCRIPTS)).toEqual(["TypeError", "TypeError", "TypeError"]);
  });

  test("has a manifest, pictures and a worker for everybody, which are checked for newer ones each time", async () => {
    await using plexus = await startPlexus();
    const manifest = await plexus.fetch("/manifest.webmanifest", { token: null });
    expect(manifest.headers.get("content-type")).toBe("application/manifest+json");
    const { icons, scope, display } = Manifest.parse(await manifest.json());
    expect({ scope, display }).toEqual({ scope: "/", display: "standalone" });
    for (const path of [...icons.map(({ src }) => src), "/assets/badge-96.png", "/worker.js"]) {
      const response = await plexus.fetch(path, { token: null });
      const { headers, status } = response;
      expect({ path, status, cached: headers.get("cache-control") }).toEqual({ path, status: 200, cached: "no-cache" });
      expect(headers.get("content-type")).toStartWith(path.endsWith(".js") ? "text/javascript" : "image/png");
      expect((await response.bytes()).length).toBeGreaterThan(100);
    }
  });
});
