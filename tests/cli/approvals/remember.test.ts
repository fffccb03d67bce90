import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
let session: string;
beforeAll(async () => {
  place = await openPlace();
  const work = join(place.scratch, "work");
  mkdirSync(work);
  session = await place.managed("api", work);
});
afterAll(() => place[Symbol.asyncDispose]());

const permit = (command: string) =>
  place.call("loopback_permit", {
    session_id: session,
    tool_name: "Bash",
    input: { command },
    tool_use_id: crypto.randomUUID(),
  });

describe("a decision that is remembered", () => {
  test("prints the rule that was made as suggested, which decides the next such call", async () => {
    const { id, answer } = await place.ask(session, "Bash", { command: "npm test" });
    const { exitCode, stdout, stderr } = await place.plexus(["allow", id, "--remember", "session"]);
    expect(stdout).toMatch(
      new RegExp(`^Allowed ${id}\\.\nRule \\w{8}: allow Bash\\(npm test\\), in this session\\.\n$`),
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await answer).toMatchObject({ behavior: "allow" });
    expect(await permit("npm test")).toMatchObject({ behavior: "allow" });
  });

  test("denies with its reason, by a match of one's own, in every session of the creator", async () => {
    const { id } = await place.ask(session, "Bash", { command: "git push origin" });
    const flags = ["-m", "Open a pull request", "--remember", "always", "--match", "Bash(git push *)"];
    const { stdout } = await place.plexus(["deny", id, ...flags]);
    expect(stdout).toContain(": deny Bash(git push *), in every session of whoever created this one.");
    expect(await permit("git push -f")).toMatchObject({ behavior: "deny", message: "Open a pull request" });
  });

  test("is in the history as by a rule, with its id, and found by that", async () => {
    const { stdout } = await place.plexus(["history", "--by", "rule"]);
    const rows = stdout.trimEnd().split("\n").slice(1);
    expect(rows).toEqual([
      expect.stringMatching(/ denied +a rule +\d+s +Bash git push -f {2}\(rule \w{8}: Open a pull request\)$/),
      expect.stringMatching(/ allowed +a rule +\d+s +Bash npm test {2}\(rule \w{8}\)$/),
    ]);
    const [, rule = ""] = /\(rule (\w{8})\)$/.exec(rows[1] ?? "") ?? [];
    const byOne = await place.plexus(["history", "--by", `rule:${rule}`]);
    expect(byOne.stdout.trimEnd().split("\n").slice(1)).toEqual(rows.slice(1));
    const own = await place.plexus(["history", "--by", "operator", "--json"]);
    expect(own.stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  test("is refused where nothing is suggested, and then nothing is decided", async () => {
    const { id } = await place.ask(session, "Bash", { command: "rm -rf build" });
    const { exitCode, stderr } = await place.plexus(["allow", id, "--remember", "session"]);
    expect(stderr).toContain("No rule is suggested for this request");
    expect(exitCode).toBe(1);
    expect(await place.pending(session)).toHaveLength(1);
  });

  test.each([
    [["--match", "Bash"], "--match goes with --remember."],
    [["--remember", "forever"], "choose session, always."],
  ])("refuses %j in one line, with exit code 2", async (flags, says) => {
    const { exitCode, stderr } = await place.plexus(["allow", crypto.randomUUID(), ...flags]);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(stderr).toContain(says);
    expect(exitCode).toBe(2);
  });

  test("says what the rule leaves out; of a call that no rule can allow it says so, and decides nothing", async () => {
    const { id } = await place.ask(session, "Bash", { command: "touch a" });
    const made = await place.plexus(["allow", id, "--remember", "session"]);
    expect(made.stdout).toContain("allow Bash(touch *), in this session.");
    expect(made.stderr).toMatch(/^It does not allow redirects to files.*: these still ask\.\n$/);
    const other = await place.ask(session, "Bash", { command: "touch $X" });
    const refused = await place.plexus(["allow", other.id, "--remember", "session"]);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("No rule can allow it, since it is not only literal words");
    // The request is still pending.
    expect((await place.plexus(["deny", other.id, "-m", "no"])).exitCode).toBe(0);
  });
});
