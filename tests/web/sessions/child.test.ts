import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { script } from "../../support/model/scripted-model.ts";
import { bash, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { showsRows, signedIn } from "../support/person.ts";

setDefaultTimeout(120_000);

describe.skipIf(CHROMIUM === undefined)("a child of the real CLI, on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("is started there, requests approval, shows what its edit would change, and goes on when the key a allows it", async () => {
    await using family = await startFamily();
    const file = join(family.place, "notes.txt");
    writeFileSync(file, "one\ntwo\nthree\n");
    const edit = { file_path: file, old_string: "two", new_string: "2" };
    await using person = await signedIn(browser, family.plexus);
    const { page } = person;
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByLabel("Name", { exact: true }).fill("editor");
    await page.getByLabel(/Working directory/).fill(family.place);
    const turns = [{ use: [{ name: "Read", input: { file_path: file } }] }, { use: [{ name: "Edit", input: edit }] }];
    await page.getByLabel("First prompt").fill(script(turns, "Change the notes."));
    await page.getByRole("button", { name: "Start" }).click();

    const transcript = page.getByRole("log", { name: "Transcript" });
    await transcript.getByText("Change the notes.").waitFor();
    await transcript.getByText("requested approval for Edit").click();
    await person.card.locator(".lines .removed", { hasText: "two" }).waitFor();
    await person.card.locator(".lines .added", { hasText: "2" }).waitFor();
    await person.card.locator(".lines .same", { hasText: "three" }).waitFor();
    await person.press("a");
    await until("the edit", () => readFileSync(file, "utf8") === "one\n2\nthree\n");

    await transcript.getByText("allowed", { exact: true }).waitFor();
    await transcript.getByText(/^done · /).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("shows the plan with which it wants to leave plan mode", async () => {
    await using family = await startFamily();
    const id = await family.create("planner");
    const plan = "1. Remove the cache\n2. Measure again";
    const exit = { name: "ExitPlanMode", input: { plan } };
    await family.start("planner", [{ use: [{ name: "EnterPlanMode", input: {} }] }, { use: [exit] }]);
    await family.respond(await family.ask(id), { approve: true });
    await using person = await signedIn(browser, family.plexus);
    await person.card.getByRole("region", { name: "Plan" }).getByRole("listitem").first().waitFor();
    expect(await person.card.locator(".plan ol > li").allTextContents()).toEqual(["Remove the cache", "Measure again"]);
    await person.press("a");
    await family.ended("planner");
    expect((await family.call("claudecode_get", { session_id: id })).config.status).toBe("complete");
  });

  test("shows which subagent requests approval, and what that one said before", async () => {
    await using family = await startFamily();
    await family.create("delegate");
    const prompt = script([{ say: "I make the file <b>now</b>.", use: [bash("touch file")] }], "the task");
    const input = { description: "make a file", subagent_type: "general-purpose", prompt };
    await family.start("delegate", [{ say: "Somebody else does it.", use: [{ name: "Agent", input }] }]);
    await using person = await signedIn(browser, family.plexus);
    await person.card.getByText("subagent: general-purpose (make a file)").waitFor();
    const said = person.card.locator(".said");
    expect(await said.textContent()).toBe("I make the file <b>now</b>.");
    await person.press("a");
    await family.ended("delegate");
    expect(person.complaints).toEqual([]);
  });

  test("is shown as queued while no slot is free, with its place as it moves on, and as running when it starts", async () => {
    await using family = await startFamily({ flags: { maxRunning: "1" } });
    const id = await family.create("worker");
    for (const name of ["other", "before"]) await family.create(name);
    await family.start("other", [{ hang: true }]);
    await family.call("claudecode_chat_async", { name: "before", prompt: script([{ say: "x" }]) });
    await using person = await signedIn(browser, family.plexus);
    const { page } = person;
    await page.goto(`${family.plexus.url}/#/sessions/${id}`);
    await page.getByRole("textbox", { name: "Prompt" }).fill(script([{ say: "my turn", waitFor: "go" }], "The task."));
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".badge", { hasText: "queued" }).waitFor();
    await page.getByText("Queued, in place 2").waitFor();
    await page.getByText("Its prompt").click();
    await page.locator(".queued .markdown", { hasText: "The task." }).waitFor();
    await family.call("claudecode_cancel", { name: "before" });
    await page.getByText("Queued: it starts next").waitFor();
    await page.getByRole("button", { name: "Cancel turn" }).waitFor();
    await family.call("claudecode_cancel", { name: "other" });
    await page.locator(".badge", { hasText: "running" }).waitFor();
    family.model.release("go");
    await page.getByRole("log", { name: "Transcript" }).getByText("my turn").waitFor();
    await page.locator(".badge", { hasText: "done" }).waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("takes a second prompt, is cancelled, forked and deleted there", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    await family.run("worker", [{ say: "first answer" }]);
    await using person = await signedIn(browser, family.plexus);
    const { page } = person;
    await page.goto(`${family.plexus.url}/#/sessions/${id}`);
    const transcript = page.getByRole("log", { name: "Transcript" });
    await transcript.getByText("first answer").waitFor();
    await page.getByRole("textbox", { name: "Prompt" }).fill(script([{ use: [bash("touch made")] }]));
    await page.getByRole("button", { name: "Send" }).click();
    await transcript.getByText("requested approval for Bash").waitFor();
    await page.getByRole("button", { name: "Cancel turn" }).click();
    await transcript.locator(".entry").getByText("abandoned", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Fork" }).click();
    await page.getByLabel(/Name of the new session/).fill("worker two");
    await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
    await page.getByRole("heading", { name: "worker two" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: "worker", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "worker two" }).count()).toBe(0);
    expect(person.complaints).toEqual([]);
  });

  test("leaves its decisions in the history, where they can be filtered", async () => {
    await using family = await startFamily();
    const id = await family.create("author");
    await family.start("author", [{ use: [bash("touch one")] }, { use: [bash("touch two")] }]);
    await family.respond(await family.ask(id), { approve: true });
    const second = await until("the second ask", async () => {
      const asked = await family.ask(id);
      return JSON.stringify(asked.input).includes("two") && asked;
    });
    await family.respond(second, { approve: false, message: "one is enough" });
    await family.ended("author");
    await using person = await signedIn(browser, family.plexus);
    const { page } = person;
    await page.getByRole("link", { name: "History" }).click();
    const rows = page.locator(".decision-list .row");
    await until("both decisions", async () => (await rows.count()) === 2);
    await page.getByLabel("Outcome").selectOption("denied");
    await until("one decision", async () => (await rows.count()) === 1);
    await rows.first().click();
    await page.getByRole("dialog").getByText("one is enough").waitFor();
    await person.press("Escape");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const lines = readFileSync(await (await download).path(), "utf8")
      .trim()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ status: "denied", resolved_by: "operator" }]);
    await showsRows(person, 0);
  });
});
