import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ESCAPE } from "../../../src/cli/terminal/keys.ts";
import { deleteSession } from "../../../src/contract/routes/sessions.ts";
import { until } from "../../support/until.ts";
import type { Screen } from "../support/command.ts";
import { openPlace } from "../support/place.ts";
import { watchScreen } from "../support/watch-screen.ts";
import { bash, openWorkshop, scripted, type Workshop } from "../support/workshop.ts";

setDefaultTimeout(120_000);

const [TAB, ENTER, BACKSPACE] = ["\t", "\r", "\u007f"];
const PAGE_UP = `${ESCAPE}[5~`;
/** Right after a change, keys are ignored for a short time, and exactly this time must pass. */
const settled = () => Bun.sleep(400);

async function quit(screen: Screen): Promise<void> {
  screen.type("q");
  expect(await screen.exited).toBe(0);
}

/** Requests of two sessions, and `plexus watch` on a terminal of this width. */
async function openInbox(columns: number) {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await openPlace());
  const [shop, docs] = [await place.session("shop"), await place.session("docs")];
  const first = await place.ask(shop, "Bash", { command: "make all" });
  await place.ask(docs, "WebFetch", { url: "https://example.org/made", prompt: "?" });
  await place.ask(shop, "WebFetch", { url: "https://example.org/other", prompt: "?" });
  const screen = stack.use(watchScreen({ dataDir: place.dataDir, columns }));
  await screen.shows("3 pending");
  const owned = stack.move();
  return { place, shop, docs, first, screen, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The rows of the list above the selected request. */
function listOf(screen: ReturnType<typeof watchScreen>): string[] {
  const rows = screen.rows();
  const list = rows.slice(
    1,
    rows.findIndex((row) => row.startsWith("──")),
  );
  return list.map((row) => row.replaceAll(/ +\d+m?\d*s +\w+ +/g, " ").trimEnd());
}

describe.each([80, 60])("plexus watch in %i columns", (columns) => {
  test("lists only the requests with the text of its filter, and decides none that it hides", async () => {
    await using inbox = await openInbox(columns);
    const { screen, place, shop } = inbox;
    screen.type("/");
    await screen.shows("Filter: █");
    screen.type("MADEa");
    await screen.shows("None of 3 pending requests matches the filter");
    screen.type(`${ENTER}`);
    await settled();
    screen.type("a");
    screen.type("/");
    await screen.shows("Filter: MADEa█");
    screen.type(BACKSPACE);
    await until("the list", () => listOf(screen).join() === "▸ docs  WebFetch https://example.org/made");
    screen.type(ENTER);
    await until("the filter to be kept", () => !screen.now().includes("Filter:") && screen.now().includes("/MADE"));
    await screen.shows("request 1/1");
    expect(await place.pending(shop)).toHaveLength(2);
    await settled();
    screen.type("a");
    await screen.shows("Allowed WebFetch of docs.");
    await screen.shows("None of 2 pending requests matches the filter");
    void place.ask(shop, "Bash", { command: "echo made" });
    await screen.shows("│ echo made");
    screen.type(`/${ESCAPE}`);
    await until("all of them", () => listOf(screen).length === 3);
    expect(screen.now()).not.toContain("/MADE");
    await quit(screen);
  });

  test("groups the requests by session or by tool, and the keys follow the groups", async () => {
    await using inbox = await openInbox(columns);
    const { screen } = inbox;
    const grouped = (...list: string[]) => until("the groups", () => listOf(screen).join("\n") === list.join("\n"));
    screen.type("b");
    await grouped(
      "shop (2)",
      "▸ shop  Bash make all",
      "  shop  WebFetch https://example.org/other",
      "docs (1)",
      "  docs  WebFetch https://example.org/made",
    );
    screen.type("j");
    await screen.shows("request 2/3");
    await screen.shows("WebFetch of shop");
    screen.type("b");
    await screen.shows("by tool");
    await screen.shows("WebFetch (2)");
    await screen.shows("request 3/3");
    screen.type("b");
    await until("no groups", () => listOf(screen).length === 3);
    await quit(screen);
  });

  test("has no row that is wider than the screen, and always names the keys for help and quitting", async () => {
    await using inbox = await openInbox(columns);
    const { screen } = inbox;
    for (const keys of ["", "b", "/x", ENTER, TAB, "?", ESCAPE]) {
      const before = screen.text().length;
      screen.type(keys);
      if (keys !== "") await until("another frame", () => screen.text().length > before);
      for (const row of screen.rows()) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
    }
    const bar = screen.rows().at(-1) ?? "";
    expect(bar).toEndWith("? help  q quit");
    expect(Bun.stringWidth(bar)).toBeLessThanOrEqual(columns);
    await quit(screen);
  });
});

describe("the sessions of plexus watch", () => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop();
    for (const [name, ...turns] of [
      ["done", { say: "I have found it." }, { say: "Over." }],
      ["asks", { say: "I make it.", use: [bash("touch made")] }, { say: "It is made." }],
    ] as const) {
      await shop.call("claudecode_run", { name, prompt: scripted(...turns), working_dir: shop.work, wait_secs: 0 });
    }
    await until("one to have ended", async () => (await shop.statusOf("done")) === "complete");
    await shop.asked("asks");
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  const onScreen = (columns = 80) => watchScreen({ dataDir: shop.dataDir, columns });

  test.each([80, 60])("stand in a tab in %i columns, those first that need somebody", async (columns) => {
    await using screen = onScreen(columns);
    await screen.shows("1 pending");
    screen.type(TAB);
    await screen.shows("[sessions]");
    const seen = await screen.shows("▸ asks");
    expect(seen).toMatch(/SESSION +STATUS +PENDING +COST +ACTIVE/);
    expect(seen).toMatch(/▸ asks +needs approval +1 +– +\d+s[^\n]*\n {2}done +done +– +\$0\.\d+ +\d+s/);
    for (const row of screen.rows()) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
    screen.type("/don");
    await screen.shows("▸ done");
    expect(screen.now()).not.toContain("▸ asks");
    screen.type(`${ESCAPE}${TAB}`);
    await screen.shows("│ touch made");
    await quit(screen);
  });

  test("are followed with Enter, from which Enter leads to the request that needs approval", async () => {
    const name = "followed";
    const turns = [{ say: "I begin.", use: [bash("touch followed")] }, { say: "I end." }];
    await shop.call("claudecode_run", { name, prompt: scripted(...turns), working_dir: shop.work, wait_secs: 0 });
    await shop.asked(name);
    await using screen = onScreen();
    await screen.shows("2 pending");
    screen.type(`${TAB}`);
    await screen.shows("followed");
    screen.type(`/${name}${ENTER}`);
    await screen.shows("▸ followed");
    screen.type(ENTER);
    await screen.shows("│ I begin.");
    await screen.shows("→ Bash touch followed");
    await screen.shows("followed  needs approval, 1 pending");
    screen.type("a");
    screen.type(ENTER);
    await screen.shows("│ touch followed");
    expect(screen.now()).toContain("Bash of followed");
    await settled();
    screen.type("a");
    await screen.shows("Allowed Bash of followed.");
    screen.type(TAB);
    await screen.shows("│ I end.");
    await screen.shows("✓ done: ");
    screen.type(ESCAPE);
    await screen.shows("/followed");
    await quit(screen);
  });

  test("stay in view at their end, until somebody scrolls up", async () => {
    const name = "long";
    const say = Array.from({ length: 60 }, (_, number) => `line ${number} ${"x".repeat(90)}`).join("\n");
    await shop.call("claudecode_run", { name, prompt: scripted({ say }), working_dir: shop.work });
    await using screen = onScreen();
    await screen.shows("live");
    screen.type(`${TAB}/${name}${ENTER}`);
    await screen.shows("▸ long");
    screen.type(ENTER);
    await screen.shows("│ line 59 x");
    for (const row of screen.rows().filter((one) => one.includes("xxxx"))) expect(row).toStartWith("│ ");
    screen.type(PAGE_UP);
    await until("the end to be left", () => !screen.now().includes("line 59"));
    screen.type("g");
    await screen.shows("│ line 0 x");
    screen.type("G");
    await screen.shows("│ line 59 x");
    await shop.api.call(deleteSession, { params: { key: name } });
    await screen.shows("No session matches the filter");
    await quit(screen);
  });
});
