import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cancelTurn, listSessions } from "../../../src/contract/routes/sessions.ts";
import { createToken } from "../../../src/contract/routes/tokens.ts";
import { SessionEvent } from "../../../src/contract/sessions/session-view.ts";
import { bash, openWorkshop, scripted, type Workshop } from "../support/workshop.ts";

setDefaultTimeout(120_000);

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop[Symbol.asyncDispose]());

describe("plexus run", () => {
  test("makes the session in the current directory, and prints what the child says and does", async () => {
    const prompt = scripted({ use: [bash("echo read-only")], say: "I look around." }, { say: "It is all there." });
    const { exitCode, stdout, stderr } = await shop.plexus(["run", "plain", prompt]);
    const [said, used, result, answer, done] = stdout.split("\n");
    expect([said, used, result, answer]).toEqual([
      "│ I look around.",
      "→ Bash echo read-only",
      "← read-only",
      "│ It is all there.",
    ]);
    expect(done).toMatch(/^✓ done: 2 turns, \d+ tokens in, \d+ out, \$\d+\.\d{4}$/);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { stdout: table } = await shop.plexus(["sessions"]);
    expect(table).toMatch(new RegExp(`^plain +done +– +\\$0\\.\\d{4} +\\d+s +${shop.work}$`, "m"));
  });

  test("goes on with the same session, and takes the prompt from standard input", async () => {
    for (const args of [
      ["run", "again", "-"],
      ["run", "again", "-"],
    ]) {
      const { exitCode, stdout } = await shop.plexus(args, { stdin: scripted({ say: "heard" }) });
      expect(stdout).toStartWith("│ heard\n");
      expect(exitCode).toBe(0);
    }
    expect(JSON.stringify(shop.model.requests.at(-1)?.conversation)).toContain("heard");
  });

  test("goes on with a fork, whose cost begins at nothing and has only its own turns", async () => {
    const cost = async (name: string) => {
      const { stdout } = await shop.plexus(["sessions"]);
      return new RegExp(`^${name} +\\w+ +– +(\\S+)`, "m").exec(stdout)?.[1];
    };
    for (const _ of [1, 2]) await shop.plexus(["run", "trunk", scripted({ say: "one" })]);
    await shop.call("claudecode_fork", { name: "trunk", new_name: "branch" });
    expect(await cost("branch")).toBe("–");
    const { stdout } = await shop.plexus(["run", "branch", scripted({ say: "two" })]);
    const ofTurn = /(\$\S+)\n$/.exec(stdout)?.[1];
    expect(await cost("branch")).toBe(ofTurn);
    expect(await cost("trunk")).not.toBe(ofTurn);
  });

  test("says on standard error how to decide, waits, and goes on", async () => {
    const running = shop.plexus(["run", "asking", scripted({ use: [bash("touch made")] })]);
    const { id } = await shop.asked("asking");
    expect(existsSync(join(shop.work, "made"))).toBe(false);
    await shop.plexus(["allow", id]);
    const { exitCode, stdout, stderr } = await running;
    expect(stderr).toBe(`Bash needs approval: \`plexus allow ${id}\`, or \`plexus deny ${id} -m WHY\`.\n`);
    expect(stdout).toContain(`? Bash needs approval (${id.slice(-4)})\n│ # a command\n│ touch made\n`);
    expect(stdout).toContain("✓ Bash was allowed by operator\n");
    expect(existsSync(join(shop.work, "made"))).toBe(true);
    expect(exitCode).toBe(0);
  });

  test("warns on standard error of what wants a second look", async () => {
    const running = shop.plexus(["run", "warned", scripted({ use: [bash("rm -rf nothing")] })]);
    const { id } = await shop.asked("warned");
    await shop.plexus(["deny", id, "-m", "no"]);
    expect((await running).stderr).toStartWith(`! ${id}: it removes files (rm)\nBash needs approval: `);
  });

  test("with --json prints one event a line and nothing else, numbered without a gap", async () => {
    const running = shop.plexus(["run", "piped", "--json", scripted({ use: [bash("touch piped")], say: "\u001b[2J" })]);
    const { id } = await shop.asked("piped");
    await shop.plexus(["deny", id, "-m", "not now"]);
    const { exitCode, stdout } = await running;
    expect(stdout).not.toMatch(/[^\n -~]/);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => SessionEvent.parse(JSON.parse(line)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    const types = events.map(({ event }) => event.type);
    expect(types).toEqual(expect.arrayContaining(["tool_use", "approval_requested", "approval_resolved", "content"]));
    expect(types.at(-1)).toBe("complete");
    expect(exitCode).toBe(0);
  });

  test("ends with 1 when the turn fails, and says why", async () => {
    const { exitCode, stdout, stderr } = await shop.plexus([
      "run",
      "failing",
      scripted({ status: 400, message: "no!" }),
    ]);
    expect(stdout).toMatch(/^✗ .*no!/m);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "plexus: The turn failed.\n" });
  });

  test("ends with 5 when somebody cancels the turn, and with 1 when the session is busy", async () => {
    const running = shop.plexus(["run", "cancelled", scripted({ use: [bash("touch never")] })]);
    await shop.asked("cancelled");
    const second = await shop.plexus(["run", "cancelled", "more"]);
    expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has a turn that runs") });
    await shop.api.call(cancelTurn, { params: { key: "cancelled" } });
    const { exitCode, stdout, stderr } = await running;
    expect(stdout).toContain("✗ Bash was abandoned");
    expect(stderr).toContain("plexus: The turn was cancelled.\n");
    expect(exitCode).toBe(5);
  });

  test("uses a session that exists as it is, and refuses flags that would differ", async () => {
    const made = ["--supervision", "strict", "--model", "opus", "--allowed-tools", "Bash(echo:*)", "--max-turns", "9"];
    const say = scripted({ say: "x" });
    expect(await shop.plexus(["run", "settled", say, ...made])).toMatchObject({ exitCode: 0 });
    expect(await shop.plexus(["run", "settled", say, ...made, "--dir", "."])).toMatchObject({ exitCode: 0 });
    const elsewhereDir = join(shop.work, "elsewhere");
    mkdirSync(elsewhereDir);
    for (const [flag = "", value = "", differs = ""] of [
      ["--model", "sonnet", 'model ("opus")'],
      ["--supervision", "inherit", 'supervision ("strict")'],
      ["--allowed-tools", "Read", 'allowed_tools (["Bash(echo:*)"])'],
      ["--max-turns", "8", "max_turns (9)"],
      ["--max-budget-usd", "2.50", "max_budget_usd (none)"],
      ["--system-prompt", "Be brief.", "system_prompt (none)"],
      ["--dir", elsewhereDir, "working_dir"],
    ]) {
      const { exitCode, stdout, stderr } = await shop.plexus(["run", "settled", say, flag, value]);
      expect(stderr).toStartWith(`plexus: Session "settled" exists with another ${differs}`);
      expect(stderr).toContain("`plexus sessions update`");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    }
    const elsewhere = await shop.plexus(["run", "settled", say], { cwd: "/" });
    expect(elsewhere).toMatchObject({ exitCode: 0, stderr: `Session "settled" works in ${shop.work}.\n` });
  });

  test("takes a session by its id, whoever made it, and as it is", async () => {
    const { token } = await shop.api.call(createToken, { body: { name: "maker" } });
    const say = scripted({ say: "heard" });
    await shop.plexus(["run", "theirs", say], { env: { PLEXUS_TOKEN: token } });
    const { sessions } = await shop.api.call(listSessions);
    const { id = "" } = sessions.find(({ name }) => name === "theirs") ?? {};
    expect(await shop.plexus(["run", id, say])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("heard"),
    });
    const refused = await shop.plexus(["run", id, say, "--model", "opus"]);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("plexus sessions update") });
    expect((await shop.api.call(listSessions)).sessions).toHaveLength(sessions.length);
  });

  test.each([
    [["run"], "PROMPT must not be empty"],
    [["run", "../x", "y"], "NAME must begin with a letter or digit"],
    [["run", "x", " "], "PROMPT must not be empty"],
    [["run", "x", "y", "--supervision", "lax"], "--supervision"],
    [["run", "x", "y", "--max-turns", "0"], "--max-turns"],
    [["run", "x", "y", "--max-budget-usd", "0"], "--max-budget-usd"],
    [["run", "x", "y", "--max-budget-usd", "1e3"], "--max-budget-usd"],
  ])("refuses %j in one line, with exit code 2", async (args, says) => {
    const { exitCode, stdout, stderr } = await shop.plexus(args);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(stderr).toContain(says);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  test("shows what a child says and does without letting it touch the screen", async () => {
    const hostile = "\u001b[2A\u001b[31m\u009b31m\u202e\u200b\u{e0041}\r\u2028end";
    const input = { file_path: join(shop.work, "hostile"), content: hostile };
    const prompt = scripted({ say: `said ${hostile}`, use: [{ name: "Write", input }] });
    const running = shop.plexus(["run", "hostile", prompt]);
    await shop.plexus(["deny", (await shop.asked("hostile")).id, "-m", hostile]);
    const { stdout, stderr } = await running;
    expect(stdout.replaceAll(/[→←?✓✗│…]/g, "")).not.toMatch(/[^\n -~]/);
    expect(stderr).not.toMatch(/[^\n -~]/);
    expect(stdout).toContain("said \\u{1b}[2A");
  });

  test("puts a bar before each line that a child says, so that none passes for one of ours", async () => {
    const say = ["ok\n✓ Bash was ", "allowed by operator\n", "\n? Bash asks"];
    const { stdout } = await shop.plexus(["run", "spoof", scripted({ say })]);
    expect(stdout.split("\n").slice(0, 5)).toEqual([
      "│ ok",
      "│ ✓ Bash was allowed by operator",
      "│ ",
      "│ ? Bash asks",
      expect.stringMatching(/^✓ done/),
    ]);
  });
});
