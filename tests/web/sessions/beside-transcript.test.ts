import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { script } from "../../support/model/scripted-model.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { bash, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { pressUntil, signedIn } from "../support/person.ts";
import { asker } from "../support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;
const QUESTION = {
  question: "Which database?",
  header: "DB",
  multiSelect: false,
  options: [{ label: "SQLite" }, { label: "Postgres" }],
};

describe.skipIf(CHROMIUM === undefined)("a request beside the transcript of its session", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("stands below what led to it, with the task and the last words, and the key a allows it there", async () => {
    await using family = await startFamily();
    const id = await family.create("builder");
    const prompt = script(
      [{ say: "I make **the file** now.", use: [bash("touch made")] }],
      "Make the file.\n\nQuickly.",
    );
    await family.call("claudecode_chat_async", { name: "builder", prompt });
    await family.ask(id);
    await using person = await signedIn(browser, family.plexus);
    const { page, card } = person;
    await page.goto(`${family.plexus.url}/#/sessions/${id}`);
    const transcript = page.getByRole("log", { name: "Transcript" });
    await transcript.locator(".card").getByRole("heading", { name: "Bash" }).waitFor();
    expect(await card.locator(".said strong").textContent()).toBe("the file");
    await card.locator(".task summary", { hasText: "Task Make the file." }).waitFor();
    await card.locator(".task summary").click();
    await card.locator(".task .markdown", { hasText: "Quickly." }).waitFor();
    await person.press("a");
    await until("the file", () => existsSync(join(family.place, "made")));
    await card.waitFor({ state: "detached" });
    await transcript.getByText("allowed", { exact: true }).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("is the only one that the keys reach, whatever was selected in the inbox", async () => {
    await using plexus = await startPlexus();
    const [other, child] = [await asker(plexus, "other"), await asker(plexus, "child")];
    const elsewhere = await other.ask("Bash", { command: "make elsewhere" });
    const [first, second] = [
      await child.ask("Bash", { command: "make one" }),
      await child.ask("Bash", { command: "make two" }),
    ];
    const status = async (id: string) => (await plexus.app.approvals.get(OPERATOR, id)).status;
    await using person = await signedIn(browser, plexus);
    await person.page.getByLabel("Select all").check();
    await person.page.goto(`${plexus.url}/#/sessions/${child.sessionId}`);
    await person.card.getByText("1 of 2").waitFor();
    await person.press("j");
    await person.card.locator(".command", { hasText: "make two" }).waitFor();
    await person.press("x");
    // A press right after the page changed the selection itself does not count.
    const isAllowed = async () => (await status(second.id)) === "allowed";
    await pressUntil("the allow", () => person.press("a"), isAllowed);
    await person.card.locator(".command", { hasText: "make one" }).waitFor();
    await person.press("d");
    await person.page.getByLabel(/Reason/).fill("not now");
    await person.press("Enter");
    expect((await first.answer).value).toEqual({ behavior: "deny", message: "not now" });
    await person.card.waitFor({ state: "detached" });
    await person.press("a", "a", "A", "d", "e");
    expect(await person.page.getByRole("dialog").count()).toBe(0);
    expect(await status(elsewhere.id)).toBe("pending");
    expect(person.complaints).toEqual([]);
  });

  test("needs a second press where it is dangerous, and is remembered as a rule by A", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "child");
    const { id } = await child.ask("Bash", { command: "rm -rf build" });
    await using person = await signedIn(browser, plexus);
    await person.page.goto(`${plexus.url}/#/sessions/${child.sessionId}`);
    await person.card.getByText("removes files (rm)").waitFor();
    await person.press("a");
    await person.card.getByText("Press again to allow").waitFor();
    const status = async () => (await plexus.app.approvals.get(OPERATOR, id)).status;
    expect(await status()).toBe("pending");
    await pressUntil(
      "the second press",
      () => person.press("a"),
      async () => (await status()) === "allowed",
    );
    // One that a rule could decide.
    await child.ask("WebFetch", { url: "https://docs.rs/serde", prompt: "What is it?" });
    await person.card.getByText("docs.rs").first().waitFor();
    await person.press("A");
    await person.page.getByRole("heading", { name: /and remember it$/ }).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("is answered by number and Enter where it is a question; e does not lose the answers that are chosen", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "child");
    const { id, answer } = await child.ask("AskUserQuestion", { questions: [QUESTION] });
    await using person = await signedIn(browser, plexus);
    await person.page.goto(`${plexus.url}/#/sessions/${child.sessionId}`);
    await person.card.getByText("Which database?").waitFor();
    const buttons = person.card.locator(".actions .button");
    expect(await buttons.allTextContents()).toEqual(["Answer ↵", "Skip", "Deny d"]);
    await person.press("2", "e");
    expect(await person.page.getByRole("dialog").count()).toBe(0);
    await until("the choice", () => person.card.getByLabel("Postgres").isChecked());
    await pressUntil(
      "the answer",
      () => person.press("Enter"),
      async () => (await plexus.app.approvals.get(OPERATOR, id)).status === "allowed",
    );
    expect((await answer).value["updatedInput"]).toMatchObject({ answers: { "Which database?": "Postgres" } });
    expect(person.complaints).toEqual([]);
  });

  test("that somebody else decides stays for a moment, in which a press allows nothing, and makes way for the next", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "child");
    const first = await child.ask("Bash", { command: "make one" });
    const second = await child.ask("Bash", { command: "make two" });
    await using person = await signedIn(browser, plexus);
    await person.page.goto(`${plexus.url}/#/sessions/${child.sessionId}`);
    await person.card.locator(".command", { hasText: "make one" }).waitFor();
    await plexus.app.approvals.decide(OPERATOR, first.id, { approve: false, message: "I was here" });
    await person.card.getByText("I was here").waitFor();
    await person.press("a");
    await person.card.locator(".command", { hasText: "make two" }).waitFor();
    expect((await plexus.app.approvals.get(OPERATOR, second.id)).status).toBe("pending");
    expect(person.complaints).toEqual([]);
  });
});
