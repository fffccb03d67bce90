import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { getSession } from "../../../src/contract/routes/sessions.ts";
import { openWorkshop, scripted, type Workshop } from "../support/workshop.ts";

setDefaultTimeout(120_000);

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  await shop.plexus(["run", "worker", scripted({ say: "made" }), "--max-turns", "9"]);
});
afterAll(() => shop[Symbol.asyncDispose]());

const configOf = async (key: string) => (await shop.api.call(getSession, { params: { key } })).config;

describe("plexus sessions update", () => {
  test("changes the settings whose flags are given, and no other", async () => {
    const flags = ["--model", "opus", "--max-budget-usd", "2.5", "--approval-timeout-secs", "77", "--add-dir", "."];
    expect(await shop.plexus(["sessions", "update", "worker", ...flags])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: 'Session "worker" has these settings from its next turn on.\n',
    });
    expect(await configOf("worker")).toMatchObject({
      model: "opus",
      max_budget_usd: 2.5,
      loopback_timeout_secs: 77,
      add_dirs: [shop.work],
      max_turns: 9,
    });
  });

  test("gives it rules, which replace those that it was given before, at once", async () => {
    const give = (...rules: string[]) =>
      shop.plexus(["sessions", "update", "worker", ...rules.flatMap((rule) => ["--rule", rule])]);
    await give("allow Bash(npm test)", "deny  Bash(git push *)");
    const { stderr } = await give("ask Edit(./ci/**)", "allow Bash(make *)");
    expect(stderr).toContain("; its rules are these, and no others, from now on.");
    const { stdout } = await shop.plexus(["rules", "list", "--session", "worker", "--json"]);
    expect(JSON.parse(stdout).rules).toMatchObject([
      { decision: "ask", match: "Edit(./ci/**)", tier: "session" },
      { decision: "allow", match: "Bash(make *)", tier: "session" },
    ]);
  });

  test("prints the session with --json, which is its own and not that of the list", async () => {
    const { exitCode, stdout } = await shop.plexus(["sessions", "update", "worker", "--max-turns", "8", "--json"]);
    expect({ exitCode, printed: JSON.parse(stdout) }).toMatchObject({
      exitCode: 0,
      printed: { type: "ok", config: { name: "worker", max_turns: 8 } },
    });
    expect((await shop.plexus(["sessions", "--json"])).stdout).toContain('"sessions"');
  });

  test("warns of rules that have no effect, as does run, and has them in its JSON", async () => {
    const flags = ["--supervision", "strict", "--allowed-tools", "Edit", "--allowed-tools", "Read"];
    const warning = 'Warning: allowed_tools "Edit" has no effect: with supervision "strict" ';
    const changed = await shop.plexus(["sessions", "update", "worker", ...flags]);
    expect(changed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(warning) });
    const printed = await shop.plexus(["sessions", "update", "worker", ...flags, "--json"]);
    expect(JSON.parse(printed.stdout)).toMatchObject({ warnings: [expect.stringContaining('"Edit" has no effect')] });
    const run = await shop.plexus(["run", "warned", scripted({ say: "made" }), ...flags]);
    expect(run).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(warning) });
    const again = await shop.plexus(["run", "warned", scripted({ say: "made" })]);
    expect(again.stderr).not.toContain("Warning");
  });

  test.each([
    [["sessions", "update"], 2, "NAME is missing"],
    [["sessions", "update", "worker"], 2, "Nothing is to change"],
    [["sessions", "update", "worker", "--max-turns", "many"], 2, "--max-turns"],
    [
      ["sessions", "update", "worker", "--rule", "Bash(npm test)"],
      2,
      "It must be allow, deny or ask, and then the calls",
    ],
    [["sessions", "update", "worker", "--rule", "allow Bash("], 1, "match has no closing bracket"],
    [["sessions", "update", "absent", "--model", "opus"], 1, 'There is no session "absent". You have: '],
    [["sessions", "update", "worker", "--dir", "/nowhere"], 1, "/nowhere"],
  ])("refuses %j in one line", async (args, exitCode, says) => {
    const { stderr, ...refused } = await shop.plexus(args);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(stderr).toContain(says);
    expect(refused).toEqual({ exitCode, stdout: "" });
  });
});
