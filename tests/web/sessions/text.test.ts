import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { computed } from "../support/computed.ts";
import { type Person, signedIn } from "../support/person.ts";
import { asker } from "../support/requester.ts";
import { storeTurn } from "../support/stored-transcript.ts";

setDefaultTimeout(90_000);

const MEGABYTE = 1024 * 1024;
/** The computing time that the page may use for one message, including drawing. */
const FROZEN_MS = 2_000;

const REPORT = `# What I did

The **cart** counted \`price\` once; see [the docs](https://example.com/cart "the title") and https://example.org/bare.

1. first
2. second
   - nested

> quoted

| file | lines |
|------|-------|
| cart.ts | 12 |

\`\`\`ts
const total = items.reduce((sum, item) => sum + item.price, 0); // all of them
\`\`\`
`;

const HOSTILE = [
  '<script>window.pwned=1</script><img src="/stolen" onerror="window.pwned=1"><b>bold</b>',
  "[click](javascript:window.pwned=1) [data](data:text/html,<script>window.pwned=1</script>) <javascript:window.pwned=1>",
  "[file](file:///etc/passwd) [mail](mailto:a@example.com) [here](#/sessions/x) [rel](/api/v1/approvals)",
  "![picture](https://example.com/track.png) [trap](https://ex\u0430mple.com/login)",
  '[a](https://example.com/ "x\\" onclick=window.pwned=1")',
  "\u001b[31mred\u202etxt.exe\u202c zero\u200bwidth &#x202e;entity",
  "[secret]: https://example.com/hidden",
  "| a | b |\n|---|---|\n| 1 | 2 | third |",
  "```js hidden words\ncode\n```",
].join("\n\n");

describe.skipIf(CHROMIUM === undefined)("what a child writes", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** A page with a transcript of these events. */
  async function reading(events: TurnEvent[], body: (person: Person) => Promise<void>): Promise<void> {
    await using directory = await temporaryDirectory();
    const session = storeTurn(directory.path, events);
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using person = await signedIn(browser, plexus);
    await person.page.goto(`${plexus.url}/#/sessions/${session}`);
    await body(person);
    expect(person.complaints).toEqual([]);
    expect(person.strayRequests).toEqual([]);
  }

  test("in Markdown is laid out: headings, lists, tables, links with their address, and code in colours", () =>
    reading([{ type: "content", text: REPORT }], async ({ page }) => {
      const said = page.locator(".entry.said");
      await said.getByRole("heading", { name: "What I did" }).waitFor();
      expect(await said.locator("strong").textContent()).toBe("cart");
      expect(await said.locator("ol > li").count()).toBe(2);
      expect(await said.locator("ol ul > li").textContent()).toBe("nested");
      expect(await said.locator("blockquote").textContent()).toBe("quoted");
      expect(await said.getByRole("cell", { name: "cart.ts" }).count()).toBe(1);
      const links = said.getByRole("link");
      expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute("href")))).toEqual([
        "https://example.com/cart",
        "https://example.org/bare",
      ]);
      expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute("rel")))).toEqual(
        Array(2).fill("noopener noreferrer nofollow"),
      );
      expect(await said.textContent()).toContain('the docs (https://example.com/cart "the title")');
      await said.locator(".code .hljs-keyword", { hasText: "const" }).waitFor();
      await said.locator(".code .hljs-comment", { hasText: "// all of them" }).waitFor();
    }));

  test("is copied as it was written", () =>
    reading([{ type: "content", text: "```sh\nmake 'a b'\n\tmake two\n```" }], async ({ page }) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "Copy the code" }).click();
      await page.getByRole("status").getByText("Copied").waitFor({ state: "attached" });
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("make 'a b'\n\tmake two");
    }));

  test("is copied without the clipboard interface too, which a page has only on a loopback address or over TLS", () =>
    reading([{ type: "content", text: "```sh\nmake\n```" }], async ({ page }) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('insecure'))");
      await page.getByRole("button", { name: "Copy the code" }).click();
      await page.getByRole("status").getByText("Copied").waitFor({ state: "attached" });
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("make");
    }));

  test("never becomes HTML, a link to anything but the web, or a request; and hides nothing", () =>
    reading([{ type: "content", text: HOSTILE }], async ({ page }) => {
      const said = page.locator(".entry.said");
      await said.locator(".code").waitFor();
      const text = (await said.textContent()) ?? "";
      for (const shown of [
        "<script>window.pwned=1</script>",
        "javascript:window.pwned=1",
        "file:///etc/passwd",
        "mailto:a@example.com",
        "/api/v1/approvals",
        "https://xn--exmple-4nf.com/login",
        "image: picture",
        "[secret]: ",
        "third",
        "js hidden words",
        "ESC",
        "U+202E",
        "U+200B",
      ])
        expect(text).toContain(shown);
      for (const hidden of ["\u001b", "\u202e", "\u200b"]) expect(text).not.toContain(hidden);
      const links = await said.getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
      expect(links.filter((href) => !href.startsWith("https://"))).toEqual([]);
      expect(await said.locator("b, img, script, [onclick]").count()).toBe(0);
      expect(await page.evaluate("window.pwned")).toBeUndefined();
    }));

  test.each([
    ["a megabyte of backticks", "`".repeat(MEGABYTE)],
    ["a megabyte of nested lists", "- ".repeat(MEGABYTE / 2)],
    ["a megabyte of items", "- a\n".repeat(MEGABYTE / 4)],
    ["as many brackets as are still parsed", "[".repeat(59_000)],
    ["as many paragraphs of emphasis as are still parsed", `${"*a **b ".repeat(550)}\n\n`.repeat(15)],
    ["as many nested quotes as are still parsed", "> ".repeat(29_000)],
    ["as many lines of a table as are still parsed", `|a|b|\n|-|-|\n${"|x|y|\n".repeat(9_000)}`],
    ["as much code as is still coloured", `\`\`\`js\n${"/*".repeat(2_900)}\n\`\`\``],
  ])("leaves the page quick, with %s", async (_, text) => {
    await using directory = await temporaryDirectory();
    const session = storeTurn(directory.path, [{ type: "content", text: `${text}\n\nthe very end` }]);
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using person = await signedIn(browser, plexus);
    const spentMs = await computed(person.page, async () => {
      await person.page.goto(`${plexus.url}/#/sessions/${session}`);
      await person.page.locator(".markdown:not(.plain), .long-text").getByText("the very end").waitFor();
    });
    expect(spentMs).toBeLessThan(FROZEN_MS);
    expect(person.complaints).toEqual([]);
  });

  test("as an edit is shown in the colours of the file's language, with the words that change", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const edit = {
      old_string: 'const name = "old"; // one\n/* a\nb */',
      new_string: 'const name = "new"; // one\n/* a\nb */',
    };
    await child.ask("Edit", { file_path: "/nowhere/cart.ts", ...edit });
    const diff = person.card.locator(".diff");
    await diff.locator(".removed .hljs-keyword", { hasText: "const" }).waitFor();
    await diff.locator(".added .changed .hljs-string", { hasText: "new" }).waitFor();
    expect(await diff.locator(".same .hljs-comment").allTextContents()).toEqual(["/* a", "b */"]);
    expect(await diff.locator(".added .text").textContent()).toBe('const name = "new"; // one');
    expect(person.complaints).toEqual([]);
  });

  test("is shown as plain text where the code that lays it out can't be loaded", async () => {
    await using directory = await temporaryDirectory();
    const session = storeTurn(directory.path, [{ type: "content", text: "some **bold** words" }]);
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using person = await signedIn(browser, plexus);
    await person.page.route("**/assets/parsed-*.js", (route) => route.abort());
    await person.page.goto(`${plexus.url}/#/sessions/${session}`);
    await until(
      "the text",
      async () => (await person.page.locator(".entry.said").textContent()) === "some **bold** words",
    );
  });
});
