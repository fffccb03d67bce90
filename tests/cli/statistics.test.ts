import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Statistics } from "../../src/contract/statistics.ts";
import { plexusOnScreen } from "./support/command.ts";
import { openPlace, type Place } from "./support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
  const session = await place.session("a session with a name that is longer than any column");
  const { id } = await place.ask(session, "Bash", { command: "one" });
  await place.plexus(["allow", id]);
  await place.ask(session, "Bash", { command: "two" });
});
afterAll(() => place[Symbol.asyncDispose]());

describe("plexus stats", () => {
  test("tells who decided, what needs attention, and what sessions did", async () => {
    const { exitCode, stdout, stderr } = await place.plexus(["stats"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith("In the last 24 hours\n");
    expect(stdout).toContain("Requests  1: 1 somebody decided, 0 needed nobody, 0 unanswered\n");
    expect(stdout).toContain("Now       1 pending, 0 running, 0 queued\n");
    expect(stdout).toMatch(/Needs attention\n {2}1 request needs approval, the oldest for \d+s\n {4}plexus pending\n/);
    expect(stdout).toMatch(/\nDECIDED BY .*\noperator +1 +1 +0 /);
    expect(stdout).toMatch(/\nSESSION .*\na session with a name… +\$0.00 +0 +1 +operator\n/);
  });

  test.each([["--range", "7d"], ["--range", "30d"], []])("fits a screen of 80 columns: %s %s", async (...args) => {
    await using screen = plexusOnScreen(["stats", ...args, "--data-dir", place.dataDir], {
      columns: 80,
      env: { NO_COLOR: "1" },
    });
    expect(await screen.exited).toBe(0);
    for (const line of screen.text().split("\r\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  });

  test("prints the whole answer as JSON", async () => {
    const { stdout } = await place.plexus(["stats", "--json", "--range", "30d"]);
    const found = Statistics.parse(JSON.parse(stdout));
    expect(found).toMatchObject({ range: "30d", totals: { asked: 1 }, present: { pending: 1 } });
  });

  test("refuses a range that there is not", async () => {
    const { exitCode, stderr } = await place.plexus(["stats", "--range", "1y"]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("24h, 7d, 30d") });
  });

  test("says so where nothing has happened", async () => {
    await using empty = await openPlace();
    const { stdout } = await empty.plexus(["stats"]);
    expect(stdout).toBe("In the last 24 hours\nNothing was decided, and no turn has ended.\n");
  });
});
