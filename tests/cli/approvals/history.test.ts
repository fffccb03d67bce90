import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { listApprovals } from "../../../src/contract/routes/approvals.ts";
import { plexusOnScreen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
let one: string;
beforeAll(async () => {
  place = await openPlace();
  one = await place.session("one");
  await decided(one, "Bash", { command: "touch first" }, ["allow"]);
  await decided(one, "WebFetch", { url: "https://example.org" }, ["deny", "-m", "not there"]);
  const two = await place.session("two");
  await decided(two, "Bash", { command: "touch second" }, ["allow", "--input", '{"command":"touch edited"}']);
  await place.ask(two, "Bash", { command: "still waits" });
});
afterAll(() => place[Symbol.asyncDispose]());

async function decided(session: string, tool: string, input: Record<string, unknown>, [verb = "", ...args]: string[]) {
  const { id } = await place.ask(session, tool, input);
  await place.plexus([verb, id, ...args]);
}

/** The inputs of past decisions, newest first. */
async function history(...args: string[]): Promise<string[]> {
  const { exitCode, stdout } = await place.plexus(["history", "--json", ...args]);
  expect(exitCode).toBe(0);
  const lines = stdout.split("\n").filter(Boolean);
  return lines
    .map((line) => Approval.parse(JSON.parse(line)))
    .map(({ input }) => String(input["command"] ?? input["url"]));
}

describe("plexus history", () => {
  test("tells who decided, when, how fast and what for, newest first", async () => {
    const { exitCode, stdout, stderr } = await place.plexus(["history"]);
    const [header, ...lines] = stdout.trimEnd().split("\n");
    expect(header).toMatch(/^DECIDED +ID +SESSION +OUTCOME +BY +AFTER +REQUEST$/);
    const when = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ +[0-9a-f-]{36}";
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^${when} +two +allowed +operator +\\d+s +Bash touch edited  \\(edited\\)$`)),
      expect.stringMatching(
        new RegExp(`^${when} +one +denied +operator +\\d+s +WebFetch https://example.org  \\(not there\\)$`),
      ),
      expect.stringMatching(new RegExp(`^${when} +one +allowed +operator +\\d+s +Bash touch first$`)),
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  test("prints a JSON object a line, with the whole input", async () => {
    expect(await history()).toEqual(["touch second", "https://example.org", "touch first"]);
  });

  test.each([
    [
      ["--session", "one"],
      ["https://example.org", "touch first"],
    ],
    [
      ["--tool", "Bash"],
      ["touch second", "touch first"],
    ],
    [["--status", "denied"], ["https://example.org"]],
    [["--tool", "Bash", "--session", "two"], ["touch second"]],
    [["--limit", "1"], ["touch second"]],
    [
      ["--since", "1h"],
      ["touch second", "https://example.org", "touch first"],
    ],
    [["--since", "2099-01-01"], []],
    [["--until", "2001-01-01"], []],
    [["--search", "EXAMPLE.org"], ["https://example.org"]],
    [["--search", "not there"], ["https://example.org"]],
    [["--search", "nothing like it"], []],
    [["--session", "nobody"], []],
  ])("shows only what is asked for: %j", async (args, shown) => {
    expect(await history(...args)).toEqual(shown);
  });

  test("leaves out what was decided before the moment that is asked for, to the second", async () => {
    const all = await place.api.call(listApprovals, { query: { status: "resolved" } });
    const newest = all.approvals[0]?.resolved_at ?? 0;
    for (const [since, count] of [
      [newest + 1, 0],
      [0, 3],
    ] as const) {
      const answer = await place.api.call(listApprovals, { query: { status: "resolved", since } });
      expect(answer.approvals).toHaveLength(count);
    }
    expect((await history("--since", new Date(newest * 1000).toISOString()))[0]).toBe("touch second");
  });

  test("finds what was decided in a session that is gone, by its name", async () => {
    const gone = await place.session("gone");
    await decided(gone, "Bash", { command: "touch gone" }, ["deny", "-m", "no"]);
    await place.call("claudecode_delete", { session_id: gone });
    expect(await history("--session", "gone")).toEqual(["touch gone"]);
  });

  test("says that there is nothing, and prints nothing as JSON", async () => {
    const nothing = await place.plexus(["history", "--tool", "None"]);
    expect(nothing).toEqual({ exitCode: 0, stdout: "", stderr: "Nothing was decided yet, or nothing like this.\n" });
    const json = await place.plexus(["history", "--tool", "None", "--json"]);
    expect(json).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test.each([
    [["--since", "yesterday"], "It must be like 30m, 12h or 7d, or a date."],
    [["--limit", "0"], "It must be a whole number."],
    [["--status", "pending"], "choose allowed, denied, timed_out, abandoned."],
  ])("refuses %j in one line, with exit code 2", async (args, says) => {
    const { exitCode, stderr } = await place.plexus(["history", ...args]);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(stderr).toContain(says);
    expect(exitCode).toBe(2);
  });

  test("says where an input was removed to save space", async () => {
    await decided(one, "Bash", { command: "removed since" }, ["allow"]);
    using sqlite = new Database(join(place.dataDir, "plexus.db"));
    sqlite.run(
      "UPDATE loopback_approvals SET input='{}', input_cut_at=1700000000000 WHERE input LIKE '%removed since%'",
    );
    const { stdout } = await place.plexus(["history", "--limit", "1"]);
    expect(stdout).toEndWith(" (the input was removed to save space)\n");
    const json = await place.plexus(["history", "--limit", "1", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ input: {}, input_removed_at: 1_700_000_000 });
  });

  test("fits the table to 80 columns, with short ids and the time of day", async () => {
    const session = await place.session(`long-${"name-".repeat(10)}`);
    await decided(session, "Bash", { command: "x".repeat(500) }, ["deny", "-m", "too long"]);
    await using screen = plexusOnScreen(["history", "--data-dir", place.dataDir], {
      columns: 80,
      env: { NO_COLOR: "1" },
    });
    expect(await screen.exited).toBe(0);
    const [, row = "", ...others] = screen.text().split("\r\n");
    for (const line of [row, ...others]) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
    expect(row).toMatch(
      /^\d\d:\d\d:\d\d {2}[0-9a-f]{4,6} {2}long-name-… {2}denied {2,}operator {2}\d+s {2,}Bash xxx+…$/,
    );
  });
});
