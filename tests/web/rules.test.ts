import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator } from "playwright-core";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { CHROMIUM, startBrowser } from "./support/chromium.ts";
import { type Person, signedIn } from "./support/person.ts";
import { asker } from "./support/requester.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe.skipIf(CHROMIUM === undefined)("the rules on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("are listed the strictest first, with where they hold, by whom, and what became of them", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    await plexus.app.rules.add(OPERATOR, { decision: "allow", match: "WebFetch(domain:docs.rs)", uses: 5 });
    await plexus.app.rules.add(OPERATOR, { decision: "ask", match: "WebSearch", session_id: child.sessionId });
    const reason = "Use ./trash";
    await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash(rm *)", reason, expires_in_secs: 7_200 });
    const asked = await child.ask("WebFetch", { url: "https://example.com", prompt: "Read" });
    const remember = { scope: "always", match: "WebFetch(domain:example.com)" } as const;
    await plexus.app.approvals.decide(OPERATOR, asked.id, { approve: true, remember });
    const denied = await plexus.app.approvals.request(await plexus.app.sessions.require(OPERATOR, child.sessionId), {
      tool_name: "Bash",
      input: { command: "rm a" },
    });
    expect((await plexus.app.approvals.get(OPERATOR, denied.approvalId)).status).toBe("denied");
    await using person = await signedIn(browser, plexus);
    await openRules(person);
    const groups = person.page.locator("section.rule-group h2");
    await groups.nth(2).waitFor();
    expect((await groups.allInnerTexts()).map((text) => text.split(/\s/)[0])).toEqual(["Deny", "Ask", "Allow"]);
    // In the second of its creation, the rule shows two hours.
    await reads(
      person,
      "Bash(rm *)",
      /deny .*Use \.\/trash.*everybody's sessions.*denied 1 call, last .*expires in (2h0|1h\d+)m/,
    );
    await reads(person, "WebSearch", /ask .*in builder.*never used.*by operator/);
    await reads(person, "WebFetch(domain:docs.rs)", /allow .*5 uses left/);
    await reads(person, "WebFetch(domain:example.com)", /all sessions of operator.*from this request/);
    await ruleOf(person, "WebFetch(domain:example.com)").getByRole("link", { name: "this request" }).click();
    await person.page.getByRole("heading", { name: "WebFetch of builder" }).waitFor();
    await person.press("Escape");
    await until("the history", async () => person.page.url().endsWith("#/history"));
    await openRules(person);
    await person.page.getByText("Built-in rules").click();
    await person.page.getByText("Glob, Grep in the session's directories").waitFor();
    expect(person.complaints).toEqual([]);
  });

  test("a rule is tried, added, edited and removed, and a refusal stands beside its field", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    const before = await child.ask("WebFetch", { url: "https://docs.rs/a", prompt: "Read" });
    await plexus.app.approvals.decide(OPERATOR, before.id, { approve: false });
    await using person = await signedIn(browser, plexus);
    await openRules(person);
    await person.page.getByRole("button", { name: "Add a rule" }).click();
    const form = person.page.getByRole("dialog");
    const match = form.getByLabel("Calls that match");
    await match.fill("Bash(");
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await form
      .getByRole("alert")
      .getByText(/^match /)
      .waitFor();
    await match.fill("WebFetch(domain:docs.rs)");
    await form.getByRole("button", { name: "Try" }).click();
    await form.getByText("It would have decided 1 of 1 past requests, 1 of them otherwise than somebody did").waitFor();
    const link = form.getByRole("link", { name: "WebFetch https://docs.rs/a" });
    expect(await link.getAttribute("href")).toBe(`#/history/${before.id}`);
    await form.getByLabel("In", { exact: true }).selectOption("only builder");
    await form.getByLabel("Expires").selectOption("in a day");
    await form.getByLabel(/^Uses/).fill("3");
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await ruleOf(person, "WebFetch(domain:docs.rs)").getByText("3 uses left").waitFor();
    expect(await ownRules(plexus)).toMatchObject([
      { decision: "allow", match: "WebFetch(domain:docs.rs)", session_id: child.sessionId, uses_left: 3 },
    ]);
    await person.page.getByRole("button", { name: "Edit WebFetch(domain:docs.rs)" }).click();
    await form.getByLabel(/deny/).check();
    await form.getByLabel(/Reason/).fill("Not this site");
    await form.getByLabel("Also end the agent's turn").check();
    await form.getByLabel(/^Uses/).fill("");
    await form.getByRole("button", { name: "Save" }).click();
    await ruleOf(person, "WebFetch(domain:docs.rs)").getByText("Not this site").waitFor();
    const [edited] = await ownRules(plexus);
    expect(edited).toMatchObject({ decision: "deny", reason: "Not this site", interrupt: true });
    expect([edited?.uses_left, edited?.expires_at === undefined]).toEqual([undefined, false]);
    await person.page.getByRole("button", { name: "Remove WebFetch(domain:docs.rs)" }).click();
    await form.getByText("Remove this rule?").waitFor();
    expect(await ownRules(plexus)).toHaveLength(1);
    await form.getByRole("button", { name: "Remove" }).click();
    await person.page.getByText("No rules yet").waitFor();
    expect(await ownRules(plexus)).toEqual([]);
    // The console also reports refused requests.
    expect(person.complaints.filter((one) => !one.includes("status of 422"))).toEqual([]);
  });

  test("what a rule leaves out is said before it is added and then, and that it is there already", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    await openRules(person);
    const form = person.page.getByRole("dialog");
    const says = /It allows nothing: a wildcard never covers a dangerous command/;
    const add = async () => {
      await person.page.getByRole("button", { name: "Add a rule" }).click();
      await form.getByLabel("Calls that match").fill("Bash(rm -rf *)");
      await form.getByRole("button", { name: "Try" }).click();
      await form.getByText(says).waitFor();
      await form.getByRole("button", { name: "Add", exact: true }).click();
      await form.waitFor({ state: "detached" });
    };
    const noted = person.page.locator(".toast.noted");
    await add();
    await noted.getByText(says).waitFor();
    await add();
    await noted.getByText("You have this rule already.").waitFor();
    await noted.getByRole("link", { name: "See the rule" }).waitFor();
    expect(await ownRules(plexus)).toHaveLength(1);
    expect(person.complaints).toEqual([]);
  });

  test("suggests what would have saved most decisions, and adds it once somebody has seen it", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    for (const page of ["a", "b", "c"]) {
      const { id } = await child.ask("WebFetch", { url: `https://docs.rs/${page}`, prompt: "Read" });
      await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
    }
    await using person = await signedIn(browser, plexus);
    await openRules(person);
    await person.page.getByText("These rules would have saved you most decisions").waitFor();
    await person.page.getByRole("button", { name: "Add WebFetch(domain:docs.rs)" }).click();
    const form = person.page.getByRole("dialog");
    await form.getByText("It would have decided 3 of 3 past requests, none otherwise").waitFor();
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await ruleOf(person, "WebFetch(domain:docs.rs)").waitFor();
    await person.page.getByText("These rules would have saved").waitFor({ state: "detached" });
    expect(person.complaints).toEqual([]);
  });

  test("a rule in shadow mode tells its record, and goes live", async () => {
    await using plexus = await startPlexus();
    const child = await asker(plexus, "builder");
    await plexus.app.rules.add(OPERATOR, { decision: "allow", match: "WebFetch(domain:docs.rs)", mode: "shadow" });
    for (const page of ["a", "b", "c", "d", "e"]) {
      const { id } = await child.ask("WebFetch", { url: `https://docs.rs/${page}`, prompt: "Read" });
      await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
    }
    await using person = await signedIn(browser, plexus);
    await openRules(person);
    const rule = ruleOf(person, "WebFetch(domain:docs.rs)");
    await rule.getByText("would have decided 5, none otherwise: ready to go live").waitFor();
    await rule.getByRole("button", { name: /Go live/ }).click();
    await rule.getByText("shadow", { exact: true }).waitFor({ state: "detached" });
    expect(await ownRules(plexus)).toMatchObject([{ mode: "live" }]);
  });

  test("a mistake in the rules file is told on every page, until it is corrected", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "rules.toml");
    writeFileSync(file, '[[rule]]\ndecision = "allow"\nmatch = "Bash("\n');
    await using plexus = await startPlexus({ flags: { rules: file } });
    await using person = await signedIn(browser, plexus);
    const banner = person.page.getByLabel("The rules file has a mistake");
    for (const name of ["Sessions", "Rules", "History", "Inbox"]) {
      await person.page.getByRole("link", { name }).click();
      await banner.getByText("rule 1 (allow Bash(): match").waitFor();
      await banner.getByText(file).waitFor();
    }
    writeFileSync(file, '[[rule]]\ndecision = "allow"\nmatch = "Bash(make)"\n');
    await person.page.getByRole("link", { name: "Rules" }).click();
    await banner.waitFor({ state: "detached" });
    await ruleOf(person, "Bash(make)").getByText("from the rules file").waitFor();
    expect(await person.page.getByRole("button", { name: "Edit Bash(make)" }).count()).toBe(0);
    expect(person.complaints).toEqual([]);
  });

  test("a link to a rule that is gone says so", async () => {
    await using plexus = await startPlexus();
    await using person = await signedIn(browser, plexus);
    await person.page.goto(`${plexus.url}/#/rules/gone`);
    await person.page.getByText("does not exist any more").waitFor();
  });

  test("what a rule or its reason hides is shown as what it is", async () => {
    await using plexus = await startPlexus();
    const reason = "a\u202eb<b>bold</b>";
    await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash(rm *)", reason });
    await using person = await signedIn(browser, plexus);
    await openRules(person);
    await ruleOf(person, "Bash(rm *)").getByText("U+202E").waitFor();
    expect(await ruleOf(person, "Bash(rm *)").innerText()).toContain("<b>bold</b>");
    expect(await ruleOf(person, "Bash(rm *)").locator(".rule-reason b").count()).toBe(0);
  });
});

async function openRules({ page }: Person): Promise<void> {
  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByRole("heading", { name: "Rules", exact: true }).waitFor();
}

function ruleOf({ page }: Person, match: string): Locator {
  return page.locator(".rule").filter({ has: page.getByText(match, { exact: true }) });
}

/** Waits until a rule shows this text: the names of sessions load later than the rules. */
async function reads(person: Person, match: string, pattern: RegExp): Promise<void> {
  await until(`${match} to read like ${pattern}`, async () =>
    pattern.test((await ruleOf(person, match).innerText()).replaceAll("\n", " ")),
  );
}

async function ownRules({ app }: Plexus) {
  return (await app.rules.list(OPERATOR)).filter(({ tier }) => tier !== "builtin");
}
