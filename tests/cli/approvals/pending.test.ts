import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ApprovalList } from "../../../src/contract/routes/approvals.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { until } from "../../support/until.ts";
import { pasted, plexusOnScreen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

/** All requests, over however many pages of the server. */
const Listed = ApprovalList.pick({ type: true, approvals: true }).strict();
/** Moves the cursor up, clears the screen, turns red, changes the writing direction, hides, and breaks the line. */
const HOSTILE = "\u001b[2A\u001b[2J\u001b[31m\u009b31m\u202e\u2066\u200b\u{e0041}\r\n\u2028\u007fend";
const UNPRINTABLE = /[^\n -~]/;

async function onScreen(args: string[], env: Record<string, string> = {}, columns = 120): Promise<string> {
  await using screen = plexusOnScreen(["pending", ...args, "--data-dir", place.dataDir], { env, columns });
  expect(await screen.exited).toBe(0);
  return screen.text().replaceAll("\r\n", "\n");
}

describe("plexus pending", () => {
  test("lists the requests that need approval, oldest first, one line each, without colour in a pipe", async () => {
    const session = await place.session("a-session");
    const first = await place.ask(session, "Bash", { command: "echo 1" });
    const second = await place.ask(session, "Write", { file_path: "x", content: "y" });
    const { exitCode, stdout, stderr } = await place.plexus(["pending", "--session", session]);
    const [header, ...lines] = stdout.trimEnd().split("\n");
    expect(header).toMatch(/^ID +SESSION +AGE +LEFT +REQUEST$/);
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^${first.id} +a-session +\\d+s +(4m\\d+s|5m0s) +Bash echo 1$`)),
      expect.stringMatching(new RegExp(`^${second.id} +a-session +\\d+s +(4m\\d+s|5m0s) +Write x$`)),
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  test("warns of dangers for which the page and watch require a second press", async () => {
    const session = await place.session("dangerous");
    await place.ask(session, "Bash", { command: "echo harmless" });
    const { id } = await place.ask(session, "Bash", { command: "rm -rf y | sudo sh" });
    const { stderr } = await place.plexus(["pending", "--session", session]);
    const warnings = stderr.trimEnd().split("\n");
    expect(warnings.filter((warning) => !warning.startsWith(`! ${id}: it `))).toEqual([]);
    expect(stderr).toContain(`! ${id}: it removes files (rm)\n`);
    const { stderr: none } = await place.plexus(["pending", "--json", "--session", session]);
    expect(none).toBe("");
  });

  test("shows what changes how a command runs, however long the command is", async () => {
    const session = await place.session("flagged");
    const input = { command: "x".repeat(500), description: "y", run_in_background: true, timeout: 5 };
    await place.ask(session, "Bash", input);
    const { stdout } = await place.plexus(["pending", "--session", session]);
    expect(stdout).toContain("Bash (run_in_background: true, timeout: 5) xxx");
  });

  test("takes the name of a session as well as its id or the end of it, and shows no other's", async () => {
    const [one, two] = [await place.session("one"), await place.session("two")];
    const { id } = await place.ask(one, "Bash", { command: "in one" });
    await place.ask(two, "Bash", { command: "in two" });
    for (const session of [one, "one", one.slice(-6)]) {
      const { stdout } = await place.plexus(["pending", "--json", "--session", session]);
      expect(Listed.parse(JSON.parse(stdout)).approvals.map((approval) => approval.id)).toEqual([id]);
    }
  });

  test("says on standard error that there are no pending requests, and prints an empty list as JSON", async () => {
    const nothing = await place.plexus(["pending", "--session", "nobody"]);
    expect(nothing).toEqual({ exitCode: 0, stdout: "", stderr: "No pending requests.\n" });
    const json = await place.plexus(["pending", "--session", "nobody", "--json"]);
    expect(json).toEqual({ exitCode: 0, stdout: '{"type":"ok","approvals":[]}\n', stderr: "" });
  });

  test("shows what a child wrote without letting it touch the screen, in a pipe and on a terminal", async () => {
    const session = await place.session("hostile");
    const { id } = await place.ask(session, `Bash${HOSTILE}`, { command: HOSTILE });
    const { stdout } = await place.plexus(["pending", "--session", session]);
    expect(stdout).not.toMatch(UNPRINTABLE);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toContain("\\u{202e}");
    const screen = await onScreen(["--session", session], { NO_COLOR: "1" });
    expect(screen.replaceAll("…", "")).not.toMatch(UNPRINTABLE);
    expect(screen).toContain(id.slice(-4));
  });

  test("prints JSON that is safe to look at and means exactly what the child wrote", async () => {
    const session = await place.session("hostile-json");
    await place.ask(session, "Bash", { command: HOSTILE });
    const { stdout } = await place.plexus(["pending", "--session", session, "--json"]);
    expect(stdout).not.toMatch(UNPRINTABLE);
    expect(Listed.parse(JSON.parse(stdout)).approvals[0]?.input).toEqual({ command: HOSTILE });
    const screen = await onScreen(["--session", session, "--json"]);
    expect(screen).not.toMatch(UNPRINTABLE);
    expect(Listed.parse(JSON.parse(screen)).approvals[0]?.input).toEqual({ command: HOSTILE });
  });

  test("fits the table to the width of the terminal, wide characters too", async () => {
    const session = await place.session("幅が広い");
    await place.ask(session, "Bash", { command: "長い".repeat(200) });
    await place.ask(session, "Bash", { command: "x".repeat(500) });
    const screen = await onScreen(["--session", session], { NO_COLOR: "1" }, 140);
    const lines = screen.split("\n").slice(0, 3);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(140);
    expect(lines.map((line) => line.endsWith("…"))).toEqual([false, true, true]);
    expect(screen).toContain("Whole inputs: --json.");
    const narrow = (await onScreen(["--session", session], { NO_COLOR: "1" }, 80)).split("\n");
    expect(narrow.filter((line) => Bun.stringWidth(line.trimEnd()) > 80)).toEqual([]);
  });

  test("has 80 columns for a long name and a long tool, with ids that allow and deny take", async () => {
    const session = await place.session(`a-session-with-${"a-long-".repeat(6)}name`);
    const { answer } = await place.ask(session, "mcp__some_long_server__with_a_long_tool", { path: "x".repeat(100) });
    const other = await place.ask(session, "Bash", { command: "rm -rf y" });
    const screen = await onScreen(["--session", session], { NO_COLOR: "1" }, 80);
    const [, row = "", second = ""] = screen.split("\n");
    for (const line of [row, second]) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
    expect(row).toMatch(
      /^[0-9a-f]{4,6} {2}a-session-with-… {2}\d+s {2,}(4m\d+s|5m0s) {2,}mcp__some_long_server__with_a_/,
    );
    const [short = "", dangerous = ""] = [row, second].map((line) => line.split(" ")[0]);
    expect(screen).toContain(`! ${dangerous}: it removes files (rm)`);
    expect((await place.plexus(["allow", short])).stdout).toBe(`Allowed ${short}.\n`);
    expect(await answer).toMatchObject({ behavior: "allow" });
    await place.plexus(["deny", dangerous, "-m", "no"]);
    expect(await other.answer).toMatchObject({ behavior: "deny" });
  });

  test("has a coloured header on a terminal, unless NO_COLOR is set", async () => {
    const session = await place.session("coloured");
    await place.ask(session, "Bash", { command: "true" });
    expect(await onScreen(["--session", session])).toContain("\u001b[1mID");
    expect(await onScreen(["--session", session], { NO_COLOR: "1" })).not.toContain("\u001b");
  });

  test("is quiet when its reader closes the pipe", async () => {
    const session = await place.session("many");
    const input = { command: "x".repeat(50_000) };
    await Promise.all(Array.from({ length: 12 }, () => place.ask(session, "Bash", input)));
    const command = `${PROGRAM.join(" ")} pending --json --session many --data-dir ${place.dataDir}`;
    const { stdout, stderr } = await pasted(`${command} | head -c 10`);
    expect({ stdout, stderr }).toEqual({ stdout: '{"type":"o', stderr: "" });
  });

  test("lists more than a page of the server's", async () => {
    const session = await place.session("pages");
    for (let n = 0; n < 205; n++) {
      void place.call("loopback_permit", { session_id: session, tool_name: "Bash", input: { n } });
    }
    const asked = await until("all of them to wait", async () => {
      const approvals = await place.pending(session);
      return approvals.length === 205 && approvals;
    });
    const { stdout } = await place.plexus(["pending", "--json", "--session", session]);
    const ids = Listed.parse(JSON.parse(stdout)).approvals.map((approval) => approval.id);
    expect(ids).toEqual(asked.map(({ id }) => id).sort());
  });
});
