import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

const TIME = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z";

let place: Place;
beforeAll(async () => {
  place = await openPlace();
  const { id } = await place.ask(await place.session("one"), "Bash", { command: "touch it" });
  await place.plexus(["allow", id]);
});
afterAll(() => place[Symbol.asyncDispose]());

describe("plexus audit", () => {
  test("tells from where to where each chain reaches, of the server and of an export alike", async () => {
    const { stdout: exported } = await place.plexus(["audit", "export"]);
    const file = join(place.scratch, "audit.jsonl");
    writeFileSync(file, exported);
    for (const args of [[], ["--file", file]]) {
      const { exitCode, stdout } = await place.plexus(["audit", "verify", ...args]);
      expect(stdout).toMatch(
        new RegExp(`^decisions: \\d entries, 0 \\(${TIME}\\) to \\d \\(${TIME}\\); the newest is \\d, [0-9a-f]{64}\n`),
      );
      expect(stdout).toEndWith("builtin: no entries\n✓ every entry fits\n");
      expect(exitCode).toBe(0);
    }
  });

  test("names what does not fit, and fails", async () => {
    using sqlite = new Database(join(place.dataDir, "plexus.db"));
    sqlite.run("UPDATE loopback_approvals SET is_builtin=2");
    const { exitCode, stdout, stderr } = await place.plexus(["audit", "verify"]);
    sqlite.run("UPDATE loopback_approvals SET is_builtin=0");
    expect(stdout).toMatch(/✗ decisions, approval \S+: this decision was changed: is_builtin\n/);
    expect(stderr).toContain("The record was tampered with, or is damaged: see above.");
    expect(exitCode).toBe(1);
  });
});
