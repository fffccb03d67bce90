import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToken } from "../../../src/contract/routes/tokens.ts";
import { RuleList } from "../../../src/contract/rules/answers.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexusOnScreen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
let session: string;
beforeAll(async () => {
  place = await openPlace();
  const work = join(place.scratch, "work");
  mkdirSync(work);
  session = await place.managed("api", work);
  for (const command of ["npm test", "npm test"]) await decided(command, ["allow"]);
  await decided("npm run deploy", ["deny", "-m", "not now"]);
});
afterAll(() => place[Symbol.asyncDispose]());

async function decided(command: string, [verb = "", ...args]: string[]): Promise<void> {
  const { id } = await place.ask(session, "Bash", { command });
  await place.plexus([verb, id, ...args]);
}

async function listed(...args: string[]) {
  const { stdout } = await place.plexus(["rules", "list", "--json", ...args]);
  return RuleList.parse(JSON.parse(stdout)).rules;
}

/** Adds a rule, and returns the id that the list shows. */
async function added(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await place.plexus(["rules", "add", ...args]);
  const leavesOut = args[0] === "allow" && args[1]?.endsWith(" *)");
  const says = leavesOut ? expect.stringMatching(/^It does not allow redirects to files.*: these still ask\.\n$/) : "";
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: says });
  return /^Added (\w{8}): /.exec(stdout)?.[1] ?? "";
}

describe("plexus rules", () => {
  test("says that there are none, and how to get some", async () => {
    expect(await place.plexus(["rules", "list"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "There are no rules: `plexus rules suggest` finds some, `plexus rules add` makes one.\n",
    });
  });

  test("adds rules with their limits, lists the strictest first, and removes them by the id that is shown", async () => {
    const allowed = await added("allow", "Bash(make *)", "--session", "api", "--uses", "3", "--expires", "2h");
    const denied = await added(
      "deny",
      "Bash(git push *)",
      "--reason",
      "Open a pull request",
      "--interrupt",
      "--shadow",
    );
    const { exitCode, stdout, stderr } = await place.plexus(["rules", "list"]);
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^ID +DECIDES +WHERE +BY +HITS +LAST +MATCH$/),
      expect.stringMatching(new RegExp(`^${denied} +deny +everywhere +operator +0 +- +Bash\\(git push \\*\\)$`)),
      "          ends the turn; shadow: would have decided 0, 0 of them otherwise; reason: Open a pull request",
      expect.stringMatching(new RegExp(`^${allowed} +allow +api +operator +0 +- +Bash\\(make \\*\\)$`)),
      expect.stringMatching(/^ {10}3 uses left; for (2h0m|1h59m) more$/),
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const id of [allowed, denied])
      expect(await place.plexus(["rules", "remove", id])).toMatchObject({ exitCode: 0, stdout: `Removed ${id}.\n` });
    expect(await listed()).toEqual([]);
  });

  test("says what a rule leaves out, where it is added, changed and tried, and which rule is there already", async () => {
    const { stdout, stderr } = await place.plexus(["rules", "add", "allow", "Bash(rm -rf *)"]);
    const id = /^Added (\w{8}): /.exec(stdout)?.[1] ?? "";
    const says = expect.stringMatching(/^It allows nothing: a wildcard never covers a dangerous command[^\n]*\n$/);
    expect(stderr).toEqual(says);
    expect(await place.plexus(["rules", "add", "allow", "Bash(rm -rf *)"])).toEqual({
      exitCode: 0,
      stdout: `You have it already, ${id}: allow Bash(rm -rf *), everywhere.\n`,
      stderr: says,
    });
    expect((await place.plexus(["rules", "test", "allow", "Bash(rm -rf *)"])).stderr).toEqual(says);
    const changed = await place.plexus(["rules", "update", id, "--match", "Bash"]);
    expect(changed.stderr).toContain("It does not allow commands that raise a danger");
    await place.plexus(["rules", "remove", id]);
    expect(await listed()).toEqual([]);
  });

  test("lists built-in rules only on request, and those that hold in a session", async () => {
    const here = await added("ask", "Edit(./ci/**)", "--session", "api");
    await place.session("other");
    expect((await listed("--session", "other")).map(({ match }) => match)).toEqual([]);
    expect((await listed("--session", "api")).map(({ match }) => match)).toEqual(["Edit(./ci/**)"]);
    expect((await listed("--builtin")).map(({ id }) => id)).toContain("builtin:read");
    await place.plexus(["rules", "remove", here]);
  });

  test("changes what is given, takes limits away, and makes a shadow live", async () => {
    const id = await added("deny", "Bash(curl *)", "--uses", "2", "--expires", "1d", "--reason", "no", "--shadow");
    const changes = ["--live", "--uses", "unlimited", "--expires", "never", "--match", "Bash(wget *)", "--interrupt"];
    const { exitCode, stdout } = await place.plexus(["rules", "update", id, ...changes]);
    expect(stdout).toBe(`Changed ${id}: deny Bash(wget *), everywhere, ends the turn.\n`);
    expect(exitCode).toBe(0);
    const [rule] = await listed();
    expect(rule).toMatchObject({ mode: "live", match: "Bash(wget *)", reason: "no", interrupt: true });
    expect(rule).not.toHaveProperty("uses_left");
    await place.plexus(["rules", "update", rule?.id ?? "", "--no-interrupt", "--reason", ""]);
    expect((await listed())[0]).not.toHaveProperty("reason");
    await place.plexus(["rules", "remove", id]);
  });

  test("tries a rule on the past, and names what it contradicts, with exit code 7", async () => {
    const fits = await place.plexus(["rules", "test", "allow", "Bash(npm test)"]);
    expect(fits).toEqual({ exitCode: 0, stdout: "It would have decided 2 requests of 3.\n", stderr: "" });
    const { exitCode, stdout, stderr } = await place.plexus(["rules", "test", "allow", "Bash(npm run *)"]);
    expect(stdout).toMatch(
      /^It would have decided 1 request of 3\.\nDECIDED +SESSION +WAS +BY +INPUT\n\S+ \S+ +api +denied +operator +Bash npm run deploy\n$/,
    );
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^It does not allow redirects.*\nplexus: It contradicts 1 decision\.\n$/);
    const json = await place.plexus(["rules", "test", "allow", "Bash(npm run *)", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      decided: 1,
      contradictions: [{ was: "denied", would_be: "allow" }],
    });
  });

  test("tries a call on the rules, and says what becomes of it and by which", async () => {
    const id = await added("deny", "Bash(git push *)");
    const tried = async (...args: string[]) =>
      (await place.plexus(["rules", "test", "--session", "api", ...args])).stdout;
    expect(await tried("--command", "sh -c 'git push -f'")).toMatch(
      new RegExp(`^deny, by a rule \\(${id}\\): Bash\\(git push \\*\\)\n$`),
    );
    expect(await tried("--command", "make")).toBe(
      "ask: somebody decides it\n  No rule is about such a call.\n  a rule that would: allow Bash(make)\n",
    );
    expect(await tried("--command", "make $X")).toContain(
      "  no rule can allow it, since it is not only literal words ($X)",
    );
    const near = await added("allow", "Bash(npm run *)");
    expect(await tried("--command", "npm run lint > out")).toBe(
      "ask: somebody decides it\n  Bash(npm run *) does not cover it: it writes to out (redirect)\n",
    );
    await place.plexus(["rules", "remove", near]);
    expect(await tried("--tool", "Glob", "--input", '{"pattern":"*"}')).toBe("allow, by the built-in rule search\n");
    await place.plexus(["rules", "remove", id]);
  });

  test("suggests what would have saved decisions, with the command that adds it", async () => {
    expect(await place.plexus(["rules", "suggest", "--session", "api"])).toEqual({
      exitCode: 0,
      stdout:
        "allow Bash(npm test): would have saved 2 decisions\n  plexus rules add allow 'Bash(npm test)' --session api\n",
      stderr: "",
    });
  });

  test("fits 80 columns, whatever the rules are", async () => {
    const long = "a-name-that-is-long ".repeat(3).trim();
    await place.session(long);
    const id = await added("deny", `Bash(${"x".repeat(200)})`, "--session", long, "--reason", "y".repeat(200));
    await using screen = plexusOnScreen(["rules", "list", "--data-dir", place.dataDir], {
      columns: 80,
      env: { NO_COLOR: "1" },
    });
    expect(await screen.exited).toBe(0);
    for (const row of screen.text().split("\r\n")) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(80);
    expect(screen.text()).toContain("Bash(xxx");
    await place.plexus(["rules", "remove", id]);
  });

  test.each([
    [["rules", "add", "permit", "Bash"], 2, "choose allow, deny, ask"],
    [["rules", "add", "allow", "Bash("], 1, "match has no closing bracket"],
    [["rules", "add", "allow", "Bash", "--expires", "soon"], 2, "It must be like 90s, 30m, 2h or 7d."],
    [["rules", "add", "allow", "Bash", "--session", "absent"], 1, 'There is no session "absent"'],
    [["rules", "remove", "00000000"], 1, "There is no rule 00000000"],
    [["rules", "remove", "builtin:read"], 1, "A built-in rule can't be changed"],
    [["rules", "update", "00000000"], 2, "Nothing is to change"],
    [["rules", "test"], 2, "Give a rule (DECISION and MATCH), or a call"],
    [["rules", "test", "--command", "ls"], 2, "A call is tried in a session: give --session."],
    [["rules", "test", "--tool", "Bash"], 2, "A call has --tool and --input."],
  ])("refuses %j in one line", async (args, exitCode, says) => {
    const { stderr, ...refused } = await place.plexus(args);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(stderr).toContain(says);
    expect(refused).toEqual({ exitCode, stdout: "" });
  });
});

describe("a file of rules with a mistake", () => {
  test("is told by rules list, and its rules are not changed from here", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "rules.toml");
    writeFileSync(file, '[[rule]]\ndecision = "deny"\nmatch = "Bash(git push *)"\n\n[[rule]]\ndecision = "allow"\n');
    await using filed = await openPlace({ args: ["--rules", file] });
    const { exitCode, stdout, stderr } = await filed.plexus(["rules", "list"]);
    expect(stderr).toStartWith(`The file ${file} has a mistake: nothing that it allows is allowed`);
    expect(stderr).toContain("  rule 2: match");
    expect(exitCode).toBe(0);
    const id = /^(\w{8}) +deny +everywhere +the file /m.exec(stdout)?.[1] ?? "";
    const removed = await filed.plexus(["rules", "remove", id]);
    expect(removed.stderr).toContain("This rule stands in the operator's file (--rules)");
    expect(removed.exitCode).toBe(1);
  });
});

test("says how many pending requests a new rule has decided, and names the token that a rule is for", async () => {
  const { answer } = await place.ask(session, "Bash", { command: "cargo test" });
  const { stdout } = await place.plexus(["rules", "add", "deny", "Bash(cargo *)"]);
  expect(stdout).toEndWith("It has decided 1 pending request.\n");
  expect(await answer).toMatchObject({ behavior: "deny" });
  const { token } = await place.api.call(createToken, { body: { name: "agent" } });
  await place.plexus(["rules", "add", "allow", "Bash(cargo *)"], { env: { PLEXUS_TOKEN: token } });
  const { stdout: rows } = await place.plexus(["rules", "list"]);
  expect(rows).toMatch(/ allow +all of agent +agent +0 /);
});
