import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { type Person, signedIn } from "../support/person.ts";
import { asker } from "../support/requester.ts";
import { storeTurn } from "../support/stored-transcript.ts";

setDefaultTimeout(60_000);

const SUBAGENT = { parent_tool_use_id: "task", agent: "general-purpose (find the tests)" };
const STORED_AT = new Date("2026-03-04T05:06:07Z");
const ASKED_ID = "0198a7c2-0000-7000-8000-000000000000";
const result = (tool_use_id: string, output: string, more: object = {}): TurnEvent => ({
  type: "tool_result",
  tool_use_id,
  output,
  is_error: false,
  approval_id: null,
  ...more,
});
const EVENTS: TurnEvent[] = [
  { type: "passthrough", event_type: "system/hook", data: { note: "about itself" } },
  { type: "content", text: "I let somebody look." },
  {
    type: "tool_use",
    tool_name: "Agent",
    tool_use_id: "task",
    input: { prompt: "Look **closely**.", description: "d" },
  },
  { type: "tool_use", tool_name: "Bash", tool_use_id: "one", input: { command: "ls tests" }, ...SUBAGENT },
  { type: "approval_requested", approval_id: ASKED_ID, tool_name: "Bash", tool_use_id: "one", input: {} },
  { type: "content", text: "Meanwhile I wait." },
  result("one", "cart.test.ts"),
  {
    type: "passthrough",
    event_type: "subagent/text",
    data: { parent_tool_use_id: "task", block: { text: "*Found* it." } },
  },
  { type: "tool_use", tool_name: "Bash", tool_use_id: "two", input: { command: "cat x" }, ...SUBAGENT },
  result("two", "it ran", { unasked: true }),
  result("task", "one test"),
];

describe.skipIf(CHROMIUM === undefined)("a transcript", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  async function reading(body: (person: Person) => Promise<void>): Promise<void> {
    await using directory = await temporaryDirectory();
    const session = storeTurn(directory.path, EVENTS, STORED_AT.getTime());
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using person = await signedIn(browser, plexus, { timezoneId: "UTC" });
    await person.page.goto(`${plexus.url}/#/sessions/${session}`);
    await person.page.getByText("I let somebody look.").waitFor();
    await body(person);
    expect(person.complaints).toEqual([]);
  }

  test("folds what a subagent did, but never what ran unasked", () =>
    reading(async ({ page }) => {
      const work = page.locator(".entry.subagent");
      await work.locator("summary", { hasText: "Subagent general-purpose (find the tests) · 2 calls" }).waitFor();
      expect(await page.getByText("cart.test.ts").count()).toBe(0);
      await page.getByText("Ran although Plexus had not allowed it").waitFor();
      await work.locator("summary").first().click();
      await work.getByText("cart.test.ts").waitFor();
      await work.locator("em", { hasText: "Found" }).waitFor();
    }));

  test("leaves out what the CLI says of itself, until it is wanted", () =>
    reading(async ({ page }) => {
      expect(await page.getByText("system/hook").count()).toBe(0);
      await page.getByRole("button", { name: "All messages" }).click();
      await page.getByText("system/hook").waitFor();
      await page.getByRole("button", { name: "Less" }).click();
      await page.getByText("system/hook").waitFor({ state: "detached" });
    }));

  test("tells when each thing happened, and links a request to its decision", () =>
    reading(async ({ page }) => {
      const times = page.locator(".placed time");
      expect(await times.count()).toBeGreaterThan(5);
      for (const time of await times.all())
        expect(await time.getAttribute("datetime")).toBe("2026-03-04T05:06:07.000Z");
      await page.locator(".entry.subagent summary").first().click();
      const asked = page.getByRole("link", { name: "requested approval for Bash" });
      expect(await asked.getAttribute("href")).toBe(`#/history/${ASKED_ID}`);
    }));

  test.each([
    [
      "mcp__shop_eu__create_order",
      { item: "tea", lines: [1, 2] },
      ["create_order of the MCP server shop_eu", "item", "tea", "[1,2]"],
    ],
    ["WebSearch", { query: "how to", allowed_domains: ["example.com"] }, ["query", "how to", '["example.com"]']],
    [
      "Agent",
      { description: "find it", subagent_type: "Explore", prompt: "Look **closely**." },
      ["Explore", "Look closely."],
    ],
    [
      "NotebookEdit",
      { notebook_path: "/a.ipynb", cell_id: "c1", new_source: "import os", edit_mode: "insert" },
      ["/a.ipynb", "c1", "insert", "import os"],
    ],
    ["mcp__shop__all", { text: "x".repeat(10_000) }, ["text", "Show the"]],
  ])("of a request of %s shows every argument by its name", async (tool, input, shown) => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask(tool, input);
    for (const text of shown)
      await until(text, async () => (await person.card.locator(".card-body").textContent())?.includes(text) === true);
    if (tool === "NotebookEdit") await person.card.locator(".hljs-keyword", { hasText: "import" }).waitFor();
    expect(person.complaints).toEqual([]);
  });
});
