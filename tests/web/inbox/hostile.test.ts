import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startPlexus } from "../../support/server/plexus.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { signedIn } from "../support/person.ts";
import { asker } from "../support/requester.ts";

setDefaultTimeout(60_000);

const SCRIPT = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const TRICKS = "\u001b[2J\u001b[31mred\u202erm -rf /\u202c zero\u200bwidth \u0007 bell";
const HIDDEN = ["\u001b", "\u202e", "\u200b", "\u0007"];
const MEGABYTE = 1024 * 1024;

describe.skipIf(CHROMIUM === undefined)("a hostile input", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const inputs: [string, string, object][] = [
    ["of a tool that nobody knows", "mcp__x__y", { title: SCRIPT, body: TRICKS }],
    ["of a command", "Bash", { command: `echo '${SCRIPT}' ${TRICKS}`, description: SCRIPT + TRICKS }],
    ["of a write", "Write", { file_path: "/nowhere/a.html", content: SCRIPT + TRICKS }],
    ["of an edit", "Edit", { file_path: `/nowhere/${SCRIPT}`, old_string: SCRIPT, new_string: TRICKS }],
    ["of a fetch", "WebFetch", { url: `https://example.com/${SCRIPT}${TRICKS}`, prompt: SCRIPT }],
    ["of a question", "AskUserQuestion", { questions: [{ question: SCRIPT + TRICKS, options: [{ label: SCRIPT }] }] }],
    ["with a hostile name of a tool", SCRIPT + TRICKS, { a: 1 }],
  ];

  test.each(inputs)("%s shows as text, with every hidden character in sight", async (_, tool, input) => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask(tool, input);
    await person.card.locator(".card-body").waitFor();
    const text = (await person.card.textContent()) ?? "";
    expect(text).toContain("<script>");
    expect(text).toContain("U+202E");
    const page = (await person.page.locator("body").textContent()) ?? "";
    for (const hidden of HIDDEN) expect(page).not.toContain(hidden);
    expect(await person.page.evaluate("window.pwned")).toBeUndefined();
    expect(await person.page.evaluate("document.scripts.length")).toBe(1);
    expect(person.complaints).toEqual([]);
    expect(person.strayRequests).toEqual([]);
  });

  test("that is written from right to left stays in the order that it runs in, wherever it is shown", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "cp \u05d0 \u05d1; make" });
    await person.card.locator(".steps code").first().waitFor();
    for (const place of [".request-list .summary", ".card .code", ".card .steps code"]) {
      const order = await person.page.evaluate(`getComputedStyle(document.querySelector("${place}")).unicodeBidi`);
      expect({ place, order }).toEqual({ place, order: "bidi-override" });
    }
  });

  test("of a megabyte shows its head and tail, opens in full, and leaves the page quick", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const blob = `begin ${TRICKS.repeat(MEGABYTE / TRICKS.length)} the very end`;
    const { answer } = await child.ask("mcp__x__y", { blob });
    await person.card.getByText("the very end").waitFor();
    expect((await person.card.textContent())?.length).toBeLessThan(100_000);
    await person.card.getByRole("button", { name: /Show the [\d,.]+ characters between/ }).click();
    await person.card.getByText("the very end").waitFor();
    expect(
      Number(await person.page.evaluate("document.querySelector('.card-body').textContent.length")),
    ).toBeGreaterThan(MEGABYTE);
    await person.press("d");
    await person.page.getByLabel(/Reason/).fill("too much");
    await person.press("Enter");
    expect((await answer).value["message"]).toBe("too much");
    expect(person.complaints).toEqual([]);
  });

  test("of a megabyte as a command is not parsed, and needs a second press", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "$(".repeat(MEGABYTE / 2) });
    await person.card.getByText("too long to check").waitFor();
    await person.press("a");
    await person.card.getByText("Press again to allow").waitFor();
  });
});
