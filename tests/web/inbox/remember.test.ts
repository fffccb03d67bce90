import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { CHROMIUM, startBrowser } from "../support/chromium.ts";
import { pressUntil, showsRows, signedIn, visitor } from "../support/person.ts";
import { asker } from "../support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe.skipIf(CHROMIUM === undefined)("remembering a decision on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("the key A shows the rule, what it would have decided, and makes it with the decision", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const child = await worker(plexus, directory.path);
    const before = await child.ask("Bash", { command: "npm run build" });
    await plexus.app.approvals.decide(OPERATOR, before.id, { approve: true });
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("Bash", { command: "npm run build -- --watch" });
    await showsRows(person, 1);
    await person.press("A");
    const dialog = person.page.getByRole("dialog");
    const match = dialog.getByLabel("Allow from now on");
    expect(await match.inputValue()).toBe("Bash(npm run build *)");
    expect(await match.evaluate((field) => field.matches(":focus"))).toBe(true);
    await dialog.getByText("It would have decided 1 of 1 past requests, none otherwise than somebody did.").waitFor();
    await dialog.getByLabel("every session of yours (operator)").check();
    await person.press("Enter");
    expect((await answer).value["behavior"]).toBe("allow");
    await person.page.getByText("From now on: allow Bash(npm run build *)").last().waitFor();
    const [rule] = await ownRules(plexus);
    expect(rule).toMatchObject({ decision: "allow", match: "Bash(npm run build *)", from_approval_id: id });
    expect(rule?.session_id).toBeUndefined();
    await person.page.getByRole("link", { name: "See the rule" }).click();
    await person.page.locator(".rule.linked", { hasText: "Bash(npm run build *)" }).waitFor();
    const later = await plexus.app.approvals.request(await session(plexus, child.sessionId), {
      tool_name: "Bash",
      input: { command: "npm run build -- --open" },
    });
    expect((await plexus.app.approvals.get(OPERATOR, later.approvalId)).resolved_by).toBe(`rule:${rule?.id}`);
    expect(person.complaints).toEqual([]);
  });

  test("what is typed is tried, its contradictions are listed and can be opened, and nothing typed is lost", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const child = await worker(plexus, directory.path);
    const before = await child.ask("Bash", { command: "make deploy" });
    await plexus.app.approvals.decide(OPERATOR, before.id, { approve: false });
    await using person = await signedIn(browser, plexus);
    await child.ask("Bash", { command: "make test" });
    await showsRows(person, 1);
    await person.press("A");
    const dialog = person.page.getByRole("dialog").first();
    await dialog.getByLabel("Allow from now on").fill("Bash(make *)");
    await dialog.getByText("1 of them otherwise than somebody did").waitFor();
    await dialog.getByRole("link", { name: "Bash make deploy" }).click();
    await person.page.getByRole("heading", { name: "Bash of worker", exact: true }).waitFor();
    await person.press("Escape");
    await until("one dialog", async () => (await person.page.getByRole("dialog").count()) === 1);
    expect(await dialog.getByLabel("Allow from now on").inputValue()).toBe("Bash(make *)");
    expect(person.complaints).toEqual([]);
  });

  test("a rule that the server refuses is refused in its words beside the field, and nothing is decided", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const child = await worker(plexus, directory.path);
    await using person = await signedIn(browser, plexus);
    const { id } = await child.ask("Bash", { command: "make test" });
    await showsRows(person, 1);
    await person.press("A");
    const dialog = person.page.getByRole("dialog");
    await dialog.getByLabel("Allow from now on").fill("Bash(");
    await dialog
      .getByRole("alert")
      .getByText(/^match /)
      .waitFor();
    await dialog.getByLabel("Allow from now on").fill("Bash(npm test)");
    await dialog.getByText("It matches none").or(dialog.getByText("There are no past")).first().waitFor();
    await dialog.getByRole("button", { name: "Allow and remember" }).click();
    await dialog.getByText("would not decide this request: nothing was decided").waitFor();
    expect((await plexus.app.approvals.get(OPERATOR, id)).status).toBe("pending");
  });

  test("where nothing is suggested it says why, and a dangerous request still takes a second press", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const child = await worker(plexus, directory.path);
    await using person = await signedIn(browser, plexus);
    const { id, answer } = await child.ask("Bash", { command: "rm -rf build" });
    await person.card.getByText("removes files (rm)").waitFor();
    await person.card.getByRole("button", { name: "Allow and remember…" }).click();
    const dialog = person.page.getByRole("dialog");
    await dialog.getByText("No rule is suggested").waitFor();
    expect(await dialog.getByRole("button", { name: "Allow and remember" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Allow from now on").fill("Bash(rm -rf build)");
    await pressUntil(
      "the reasons",
      () => dialog.getByRole("button", { name: "Allow and remember" }).click(),
      async () => (await dialog.getByText("Press again to allow: it removes files (rm)").count()) === 1,
    );
    const status = async () => (await plexus.app.approvals.get(OPERATOR, id)).status;
    expect(await status()).toBe("pending");
    await pressUntil(
      "the second press",
      () => dialog.getByRole("button", { name: "Allow and remember anyway" }).click({ timeout: 1_000 }),
      async () => (await status()) === "allowed",
    );
    expect((await answer).value["behavior"]).toBe("allow");
    expect((await ownRules(plexus))[0]).toMatchObject({ match: "Bash(rm -rf build)", session_id: child.sessionId });
    await child.ask("Bash", { command: "npm test $X" });
    await person.card.getByText("It can't be remembered: no rule can allow it").waitFor();
    expect(await person.card.getByRole("button", { name: /remember/ }).count()).toBe(0);
    await person.press("A");
    expect(await person.page.getByRole("dialog").count()).toBe(0);
  });

  test("an edited request is remembered by a rule of what runs, which is given up when that is changed", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const child = await worker(plexus, directory.path);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("Bash", { command: "pytest $X" });
    await showsRows(person, 1);
    await person.press("e");
    const dialog = person.page.getByRole("dialog");
    const editor = dialog.getByLabel("Command");
    await until("the command", async () => (await editor.inputValue()) === "pytest $X");
    const remember = dialog.getByLabel(/^Allow and remember/);
    await remember.click();
    await dialog.getByText("It can't be remembered: no rule can allow it").waitFor();
    expect(await remember.isChecked()).toBe(false);
    await editor.fill("pytest -x");
    await remember.check();
    expect(await dialog.getByLabel("Allow from now on").inputValue()).toBe("Bash(pytest *)");
    await editor.fill("make check");
    expect(await remember.isChecked()).toBe(false);
    expect(await dialog.getByLabel("Allow from now on").count()).toBe(0);
    await remember.check();
    await dialog.getByText("There are no past requests").waitFor();
    await dialog.getByRole("button", { name: "Allow as edited and remember" }).click();
    expect((await answer).value).toEqual({ behavior: "allow", updatedInput: { command: "make check" } });
    await person.page.getByText("From now on: allow Bash(make check)").last().waitFor();
    expect(await ownRules(plexus)).toMatchObject([{ match: "Bash(make check)", session_id: child.sessionId }]);
    expect(person.complaints).toEqual([]);
  });

  test("a denial is remembered with its reason", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus();
    const child = await worker(plexus, directory.path);
    await using person = await signedIn(browser, plexus);
    const { answer } = await child.ask("WebFetch", { url: "https://example.com/a", prompt: "Read" });
    await showsRows(person, 1);
    await person.press("d");
    const dialog = person.page.getByRole("dialog");
    await dialog.getByLabel(/Reason/).fill("Read the docs in ./docs");
    await dialog.getByLabel(/Deny and remember/).check();
    await dialog.getByLabel("Deny from now on").fill("WebFetch(domain:example.com)");
    await dialog.getByRole("button", { name: "Deny and remember" }).click();
    expect((await answer).value).toEqual({ behavior: "deny", message: "Read the docs in ./docs" });
    await person.page.getByText("From now on: deny WebFetch(domain:example.com)").last().waitFor();
    expect((await ownRules(plexus))[0]).toMatchObject({ decision: "deny", reason: "Read the docs in ./docs" });
  });

  test("what is outside of a grant can't be allowed, and the card says so", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.app.tokens.createNamed("night-shift", ["Bash(make *)"]);
    const principal = (await plexus.app.tokens.identify(token))?.principal;
    if (principal?.kind !== "token") throw new Error("a named token is a token");
    const { id: sessionId } = await plexus.app.sessions.createByHand(principal, "bounded");
    const child = await asker(plexus, "bounded", sessionId);
    await using person = await visitor(browser, plexus.url);
    await person.page.goto(plexus.url);
    await person.page.getByLabel("Token").fill(token);
    await person.press("Enter");
    const { id } = await child.ask("WebFetch", { url: "https://example.com", prompt: "Read" });
    await person.card.getByText("outside your grant").first().waitFor();
    for (const name of [/^Allow a$/, "Allow and remember…"])
      expect(await person.card.getByRole("button", { name }).isDisabled()).toBe(true);
    await person.press("a", "A");
    expect(await person.page.getByRole("dialog").count()).toBe(0);
    expect((await plexus.app.approvals.get(OPERATOR, id)).status).toBe("pending");
    await person.press("d");
    await person.page.getByRole("dialog").waitFor();
    await person.press("Enter");
    await until("the denial", async () => (await plexus.app.approvals.get(OPERATOR, id)).status === "denied");
  });
});

/** A child of a session that works in this directory. */
async function worker(plexus: Plexus, working_dir: string) {
  const { id } = await plexus.app.sessionCommands.create(OPERATOR, { name: "worker", working_dir });
  return asker(plexus, "worker", id);
}

async function ownRules({ app }: Plexus) {
  return (await app.rules.list(OPERATOR)).filter(({ tier }) => tier !== "builtin");
}

function session({ app }: Plexus, id: string) {
  return app.sessions.require(OPERATOR, id);
}
