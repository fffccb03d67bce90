import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { pressUntil, showsRows, signedIn } from "../support/person.ts";
import { asker } from "../support/requester.ts";

setDefaultTimeout(60_000);

const options = (...labels: string[]) => labels.map((label) => ({ label }));
const DATABASE = {
  question: "Which database?",
  header: "DB",
  multiSelect: false,
  options: options("SQLite", "Postgres"),
};
const TESTS = { question: "Which tests?", header: "", multiSelect: true, options: options("unit", "e2e", "load") };

describe.skipIf(CHROMIUM === undefined)("deciding on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("a new request appears by itself, in the title too, and the key a allows it", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("Bash", { command: "make test" });
    await person.card.getByText("make").first().waitFor();
    expect(await person.page.title()).toBe("(1) Plexus");
    await person.press("a");
    expect((await answer).value).toEqual({ behavior: "allow", updatedInput: { command: "make test" } });
    await person.page.getByText("No pending requests").waitFor();
    expect(await person.page.title()).toBe("Plexus");
    expect(person.complaints).toEqual([]);
    expect(person.strayRequests).toEqual([]);
  });

  test("the key d asks for a reason, which the agent reads", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("Bash", { command: "make test" });
    await showsRows(person, 1);
    await person.press("d");
    await person.page.getByLabel(/Reason/).fill("Run make check instead");
    await person.press("Enter");
    expect((await answer).value).toEqual({ behavior: "deny", message: "Run make check instead" });
  });

  test("a denial that is being written is for the request it was opened for, and the page says when somebody was faster", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const first = await child.ask("Bash", { command: "make one" });
    const second = await child.ask("Bash", { command: "make two" });
    await showsRows(person, 2);
    await person.press("g", "g", "d");
    await person.page.getByLabel(/Reason/).fill("Not this one");
    await plexus.app.approvals.decide({ kind: "operator" }, first.id, { approve: true });
    await person.card.getByText("allowed", { exact: true }).waitFor();
    await person.press("Enter");
    await person.card.getByText("Somebody was faster").waitFor();
    expect(await person.page.getByRole("dialog").count()).toBe(0);
    expect((await plexus.app.approvals.get({ kind: "operator" }, second.id)).status).toBe("pending");
  });

  test("the focus goes with the selection, so that Enter means what is shown", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    for (const command of ["make one", "make two"]) await child.ask("Bash", { command });
    await showsRows(person, 2);
    await person.rows.first().getByRole("button").click();
    await person.press("j");
    await person.rows.nth(1).locator(":focus").waitFor();
    await person.press("Enter");
    expect(await person.rows.nth(1).getByRole("button").getAttribute("aria-current")).toBe("true");
  });

  test("the key e edits the input, and only a JSON object can be sent", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("mcp__shop__order", { item: "tea" });
    await showsRows(person, 1);
    await person.press("e");
    const editor = person.page.getByLabel("Input as JSON");
    await until("the input", async () => (await editor.inputValue()).includes("tea"));
    const send = person.page.getByRole("button", { name: "Allow as edited" });
    for (const wrong of ["{", "[]", "{}", "null"]) {
      await editor.fill(wrong);
      expect(await send.isDisabled()).toBe(true);
    }
    await editor.fill('{"item":"milk"}');
    // The effect of an unknown MCP tool counts as dangerous, so it takes a second press.
    const dialog = person.page.getByRole("dialog");
    const press = dialog.locator("button[type=submit]");
    const isClosed = async () => (await dialog.count()) === 0;
    await pressUntil("the allow", () => press.click({ timeout: 1_000 }), isClosed);
    expect((await answer).value).toEqual({ behavior: "allow", updatedInput: { item: "milk" } });
  });

  test("the key e edits a command as a command, and leaves the rest of its input as it is", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("Bash", { command: "make test", timeout: 5000 });
    await showsRows(person, 1);
    await person.press("e");
    const editor = person.page.getByLabel("Command", { exact: true }).and(person.page.locator("textarea"));
    await until("the command", async () => (await editor.inputValue()) === "make test");
    await editor.fill(" ");
    expect(await person.page.getByRole("button", { name: "Allow as edited" }).isDisabled()).toBe(true);
    await editor.fill('echo "a\tb"\nmake check');
    await person.page.getByRole("button", { name: "Allow as edited" }).click();
    const updatedInput = { command: 'echo "a\tb"\nmake check', timeout: 5000 };
    expect((await answer).value).toEqual({ behavior: "allow", updatedInput });
  });

  test("an edited input that is dangerous is allowed only by a second press, which is for that input", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("Bash", { command: "make test" });
    const status = async () => (await plexus.app.approvals.get({ kind: "operator" }, id)).status;
    await showsRows(person, 1);
    await person.press("e");
    const dialog = person.page.getByRole("dialog");
    const editor = dialog.getByLabel("Command");
    await until("the input", async () => (await editor.inputValue()) === "make test");
    for (const command of ["rm -rf /", "rm -rf build"]) {
      await editor.fill(command);
      await pressUntil(
        "the reasons",
        () => dialog.getByRole("button", { name: "Allow as edited" }).click(),
        async () => (await dialog.getByText("Press again to allow: it removes files (rm)").count()) === 1,
      );
      expect(await status()).toBe("pending");
    }
    const again = dialog.getByRole("button", { name: "Allow anyway" });
    await pressUntil(
      "the second press",
      () => again.click({ timeout: 1_000 }),
      async () => (await status()) === "allowed",
    );
    expect((await answer).value).toEqual({ behavior: "allow", updatedInput: { command: "rm -rf build" } });
    expect(person.complaints).toEqual([]);
  });

  test("a dangerous request is allowed only by a second press", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("Bash", { command: "rm -rf build" });
    await person.card.getByText("removes files (rm)").waitFor();
    await person.press("a");
    await person.card.getByText("Press again to allow").waitFor();
    expect((await plexus.app.approvals.get({ kind: "operator" }, id)).status).toBe("pending");
    const isAllowed = async () => (await plexus.app.approvals.get({ kind: "operator" }, id)).status === "allowed";
    await pressUntil("the second press", () => person.press("a"), isAllowed);
    expect((await answer).value["behavior"]).toBe("allow");
  });

  test("a question is answered with the options that are chosen, by pointer and by key", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const pointed = await child.ask("AskUserQuestion", { questions: [DATABASE] });
    await person.card.getByLabel("Postgres").check();
    await person.card.getByRole("button", { name: "Answer" }).click();
    expect((await pointed.answer).value).toEqual({
      behavior: "allow",
      updatedInput: { questions: [DATABASE], answers: { "Which database?": "Postgres" } },
    });
    const typed = await child.ask("AskUserQuestion", { questions: [DATABASE, TESTS] });
    await person.card.getByText("Which tests?").waitFor();
    await person.press("1", "3", "1");
    await until("the choices", () => person.card.getByLabel("load").isChecked());
    const isAllowed = async () => (await plexus.app.approvals.get({ kind: "operator" }, typed.id)).status === "allowed";
    await pressUntil("the answer", () => person.press("Enter"), isAllowed);
    expect((await typed.answer).value).toEqual({
      behavior: "allow",
      updatedInput: {
        questions: [DATABASE, TESTS],
        answers: { "Which database?": "SQLite", "Which tests?": "unit, load" },
      },
    });
    expect(person.complaints).toEqual([]);
  });

  test("a question is not allowed by a key while answers are chosen, nor skipped by one press", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("AskUserQuestion", { questions: [DATABASE] });
    const status = async () => (await plexus.app.approvals.get({ kind: "operator" }, id)).status;
    await person.card.getByText("continues without an answer").waitFor();
    expect(await person.card.getByRole("button", { name: "Allow" }).count()).toBe(0);
    expect(await person.card.getByRole("button", { name: "Answer" }).isDisabled()).toBe(true);
    await person.press("2", "a");
    await person.card.getByText("You have chosen answers").waitFor();
    await person.press("a", "a");
    expect(await person.card.getByLabel("Postgres").isChecked()).toBe(true);
    await person.card.getByRole("button", { name: "Skip" }).click();
    await person.card.getByText("Press again to allow").waitFor();
    expect(await status()).toBe("pending");
    const skip = person.card.getByRole("button", { name: "Skip anyway" });
    const isAllowed = async () => (await status()) === "allowed";
    await pressUntil("the second press", () => skip.click({ timeout: 1_000 }), isAllowed);
    expect((await answer).value).toEqual({ behavior: "allow", updatedInput: { questions: [DATABASE] } });
  });

  test("the card shows whatever changes how a command runs", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "make", run_in_background: true, timeout: 600_000, later: { on: [1] } });
    const how = person.card.getByLabel("How it runs");
    await how.getByText("run_in_background").waitFor();
    expect(await how.innerText()).toMatch(/run_in_background\s+true\s+timeout\s+600000\s+later\s+{"on":\[1\]}/);
  });

  test("the card shows where a path really leads, and takes a second press for it", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const at = (name: string) => join(realpathSync(directory.path), name);
    for (const name of ["work", ".ssh"]) mkdirSync(at(name));
    symlinkSync(at(".ssh"), at("work/docs"));
    const { id: sessionId } = await plexus.app.sessionCommands.create(
      { kind: "operator" },
      { name: "linked", working_dir: at("work") },
    );
    const child = await asker(plexus, "linked", sessionId);
    await using person = await signedIn(browser, plexus);
    const { id } = await child.ask("Write", { file_path: at("work/docs/authorized_keys"), content: "key\n" });
    await person.card.locator(".real-path", { hasText: at(".ssh/authorized_keys") }).waitFor();
    await person.press("a");
    await person.card.getByText("Press again to allow").waitFor();
    expect((await plexus.app.approvals.get({ kind: "operator" }, id)).status).toBe("pending");
    expect(person.complaints).toEqual([]);
  });

  test("the card shows where the paths of a command really lead, and marks those that lead outside", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const work = realpathSync(directory.path);
    symlinkSync("/etc/hostname", join(work, "hn"));
    symlinkSync("/etc/passwd", join(work, "pw"));
    const settings = { name: "linked", working_dir: work };
    const { id: sessionId } = await plexus.app.sessionCommands.create({ kind: "operator" }, settings);
    const child = await asker(plexus, "linked", sessionId);
    await using person = await signedIn(browser, plexus);
    const { id } = await child.ask("Bash", { command: "cat hn a >> pw" });
    await person.card.locator(".real-path").first().waitFor();
    expect(await person.card.locator(".real-path").allTextContents()).toEqual([
      "real path: /etc/hostname",
      "real path: /etc/passwd",
    ]);
    expect(await person.card.locator(".code .outside").allTextContents()).toEqual(["hn", "pw"]);
    await person.press("a");
    await person.card.getByText("Press again to allow").waitFor();
    expect((await plexus.app.approvals.get({ kind: "operator" }, id)).status).toBe("pending");
    expect(person.complaints).toEqual([]);
  });

  test("the steps of a command say where each of them writes", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "cat a.txt > /etc/passwd; X=1 npm test 2>&1; rm b 2>> log" });
    const steps = person.card.locator(".steps li");
    await steps.first().waitFor();
    expect(await steps.allTextContents()).toEqual(["cat a.txt > /etc/passwd", "X=1 npm test 2>&1", "rm b 2>> log"]);
  });

  test("a long command is never squeezed away, and says how many of its parts are not listed", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    await person.page.setViewportSize({ width: 1366, height: 657 });
    const lines = Array.from({ length: 60 }, (_, line) => `echo ${line}`);
    await child.ask("Bash", { command: [...lines, "rm -rf ~/important"].join("\n") });
    await person.card.getByText("and 37 more, in the command above").waitFor();
    // The card is drawn again when its context arrives.
    const heightOf = () => person.card.locator(".code-scroll").evaluate(({ clientHeight }) => clientHeight);
    await until("the command to be in sight", async () => (await heightOf()) > 150);
  });

  test("the card shows what a skill says", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const skill = join(directory.path, ".claude/skills/deploy");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), "---\nallowed-tools: Bash(*)\n---\nDeploy <b>it</b> all.");
    const working_dir = directory.path;
    const { id: sessionId } = await plexus.app.sessionCommands.create(
      { kind: "operator" },
      { name: "skilled", working_dir },
    );
    const child = await asker(plexus, "skilled", sessionId);
    await using person = await signedIn(browser, plexus);
    await child.ask("Skill", { skill: "deploy", args: "now" });
    await person.card.getByText("Deploy <b>it</b> all.").waitFor();
    await person.card.getByText("lets its allowed tools run without asking").waitFor();
  });

  test("several that are selected are decided together", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using person = await signedIn(browser, plexus);
    const asked = [await child.ask("Bash", { command: "make a" }), await child.ask("Bash", { command: "make b" })];
    const other = await child.ask("Bash", { command: "make c" });
    await showsRows(person, 3);
    await person.press("g", "g", "x", "j", "x", "d");
    await person.page.getByRole("heading", { name: "Deny 2 requests" }).waitFor();
    await person.page.getByLabel(/Reason/).fill("Not today");
    await person.press("Enter");
    for (const { answer } of asked) expect((await answer).value["message"]).toBe("Not today");
    await showsRows(person, 1);
    expect((await plexus.app.approvals.get({ kind: "operator" }, other.id)).status).toBe("pending");
  });

  test("of two who decide at once the second is told who was first, and what", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.app.tokens.createNamed("night-shift");
    const named = (await plexus.app.tokens.identify(token))?.principal;
    if (named?.kind !== "token") throw new Error("a named token is a token");
    const session = await plexus.app.sessions.createByHand(named, "shared");
    const childToken = await plexus.app.tokens.createForChild(session.id);
    const client = await plexus.connect(childToken);
    await using slow = await signedIn(browser, plexus);
    // The slow page gets no events, but can still send.
    await slow.page.route("**/api/v1/events", () => undefined);
    const answer = client.call("loopback_permit", {
      tool_name: "Bash",
      input: { command: "make" },
      tool_use_id: "toolu_1",
    });
    await showsRows(slow, 1);
    await slow.page.route("**/respond", async (route) => {
      await plexus.app.approvals.decide(named, route.request().url().split("/").at(-2) ?? "", { approve: false });
      await route.continue();
    });
    await slow.press("a");
    await slow.card.getByText(/token:night-shift/).waitFor();
    await slow.card.getByText("denied", { exact: true }).waitFor();
    expect((await answer).value["behavior"]).toBe("deny");
  });

  test("what another browser decides leaves this one's list, with who it was", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus);
    await using first = await signedIn(browser, plexus);
    await using second = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "make" });
    await showsRows(first, 1);
    await showsRows(second, 1);
    await first.press("a");
    await second.card.getByText("allowed", { exact: true }).waitFor();
    await second.card.getByText("operator").waitFor();
  });
});
