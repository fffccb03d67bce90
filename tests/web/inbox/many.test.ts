import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { computed } from "../support/computed.ts";
import { signedIn } from "../support/person.ts";
import { storeTranscript } from "../support/stored-transcript.ts";

setDefaultTimeout(120_000);

const ASKS = 1_000;
const EVENTS = 100_000;
/** The most computing time that one action of a person may take, on average. */
const STEP_MS = 60;

describe.skipIf(CHROMIUM === undefined)("the page with much to show", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("stays smooth with 1,000 requests", async () => {
    await using plexus = await startPlexus();
    const session = await plexus.app.sessions.createByHand({ kind: "operator" }, "busy");
    using asks = new DisposableStack();
    for (let at = 0; at < ASKS; at++) {
      asks.use(
        await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: `make part-${at}` } }),
      );
    }
    await using person = await signedIn(browser, plexus);
    await person.page.getByText("1,000 requests need approval").waitFor();
    expect(await person.rows.count()).toBeLessThan(60);
    const spentMs = await computed(person.page, async () => {
      for (let presses = 0; presses < 50; presses++) await person.press("j");
      await person.card.getByText("part-50").first().waitFor();
      await person.press("G");
      await person.card
        .getByText(`part-${ASKS - 1}`)
        .first()
        .waitFor();
      await person.press("a");
      await person.page.getByText("999 requests need approval").waitFor();
    });
    expect(spentMs / 52).toBeLessThan(STEP_MS);
    expect(person.complaints).toEqual([]);
  });

  test("stays smooth in a transcript of 100,000 events", async () => {
    await using directory = await temporaryDirectory();
    const session = storeTranscript(directory.path, EVENTS);
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using person = await signedIn(browser, plexus);
    await person.page.goto(`${plexus.url}/#/sessions/${session}`);
    const transcript = person.page.getByRole("log", { name: "Transcript" });
    await transcript.getByText(`line ${EVENTS - 2}.`).waitFor();
    expect(Number(await person.page.evaluate("document.querySelectorAll('.entry').length"))).toBeLessThan(1_500);
    const steps = [0.5, 0.25, 0.75, 0.1, 0.9, 0.6, 0.4, 0.3, 0.2, 0];
    const spentMs = await computed(person.page, async () => {
      for (const share of steps) {
        await transcript.evaluate((element, to) => element.scrollTo(0, element.scrollHeight * to), share);
        await until("text there", async () => (await transcript.getByText(/line \d+\./).count()) > 0);
      }
    });
    await transcript.getByText("line 1.", { exact: true }).waitFor();
    expect(spentMs / steps.length).toBeLessThan(5 * STEP_MS);
    expect(person.complaints).toEqual([]);
  });
});
