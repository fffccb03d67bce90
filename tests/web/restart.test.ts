import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startPlexus } from "../support/server/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { showsRows, signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

describe.skipIf(CHROMIUM === undefined)("a page whose server stops and starts again", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("catches up without a reload, tells what was decided meanwhile, and decides on", async () => {
    await using directory = await temporaryDirectory();
    const dataDir = directory.path;
    const first = await startPlexus({ dataDir });
    await using person = await signedIn(browser, first);
    const before = await (await asker(first, "before")).ask("Bash", { command: "make one" });
    await showsRows(person, 1);
    const port = new URL(first.url).port;
    await first[Symbol.asyncDispose]();
    await person.page.getByText("No connection, trying again…").waitFor();

    await using second = await startPlexus({ dataDir, flags: { port } });
    await second.app.approvals.decide({ kind: "operator" }, before.id, {
      approve: false,
      message: "while you were away",
    });
    const after = await (await asker(second, "after")).ask("Bash", { command: "make two" });
    await person.card.getByText("while you were away").waitFor();
    await person.page.getByRole("button", { name: /Bash after/ }).click();
    await person.card.getByText("two").first().waitFor();
    await person.press("a");
    expect((await after.answer).value["behavior"]).toBe("allow");
    expect(person.complaints).toEqual([]);
  });
});
