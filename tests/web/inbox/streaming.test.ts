import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { z } from "zod";
import { startPlexus } from "../../support/server/plexus.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { computed } from "../support/computed.ts";
import { signedIn } from "../support/person.ts";

setDefaultTimeout(60_000);

const ASKS = 1_000;
const AT_ONCE = 20;
const FRAME_MS = 1000 / 60;
/** The share of a frame that the page's work may take on average. */
const WORK_SHARE = 0.6;
/** The share of the frames that an idle page draws. */
const IDLE_SHARE = 0.75;

describe.skipIf(CHROMIUM === undefined)("the inbox while 1,000 requests stream in", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("draws 60 frames a second, as it does when nothing happens", async () => {
    await using plexus = await startPlexus();
    const session = await plexus.app.sessions.createByHand({ kind: "operator" }, "busy");
    await using person = await signedIn(browser, plexus);
    const { page } = person;
    using asks = new DisposableStack();
    let spentMs = 0;
    const busy = await framesDuring(page, async () => {
      spentMs = await computed(page, async () => {
        for (let from = 0; from < ASKS; from += AT_ONCE) {
          const inputs = Array.from({ length: AT_ONCE }, (_, at) => ({ command: `make ${from + at}` }));
          const asked = inputs.map((input) => plexus.app.approvals.request(session, { tool_name: "Bash", input }));
          for (const one of await Promise.all(asked)) asks.use(one);
        }
        await page.getByText("1,000 requests need approval").waitFor();
      });
    });
    // Measured on the same machine under the same load.
    const idle = await framesDuring(page, () => page.waitForTimeout(1_000));
    expect(busy.perSecond).toBeGreaterThan(IDLE_SHARE * idle.perSecond);
    expect(spentMs / busy.count).toBeLessThan(WORK_SHARE * FRAME_MS);
    expect(person.complaints).toEqual([]);
  });
});

/** The number of frames that the page drew during `body`. */
async function framesDuring(page: Page, body: () => Promise<void>): Promise<{ count: number; perSecond: number }> {
  await page.evaluate(`(() => {
    const seen = (window.seen = { times: [], isOver: false });
    const next = (at) => {
      seen.times.push(at);
      if (!seen.isOver) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })()`);
  await body();
  const times = z.array(z.number()).parse(await page.evaluate("((seen.isOver = true), seen.times)"));
  const count = times.length - 1;
  return { count, perSecond: (1000 * count) / ((times.at(-1) ?? 0) - (times[0] ?? 0)) };
}
