import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lookAtRules } from "../../../src/cli/doctor/rules.ts";
import { readConfig } from "../../../src/config.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary.ts";
import { openPlace } from "../support/place.ts";

setDefaultTimeout(60_000);

const GOOD = '[[rule]]\ndecision = "deny"\nmatch = "Bash(git push *)"\nexamples.match = ["git push -f"]\n';
const BAD = `${GOOD}\n[[rule]]\ndecision = "allow"\nmatch = "Bash("\n`;
const { signal } = new AbortController();

let directory: TemporaryDirectory;
let file: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
  file = join(directory.path, "rules.toml");
});
afterAll(() => directory[Symbol.asyncDispose]());

describe("what plexus doctor says of the file of rules", () => {
  test("is nothing where there is none", async () => {
    expect(await lookAtRules(readConfig({}, {}), false, signal)).toBeUndefined();
  });

  test("is how many rules the file of --rules has, or each problem", async () => {
    writeFileSync(file, GOOD);
    const config = readConfig({ rules: file }, {});
    const good = await lookAtRules(config, false, signal);
    expect(good).toEqual({ step: "rules", state: "ok", says: `1 rule in ${file}` });
    writeFileSync(file, BAD);
    expect(await lookAtRules(config, false, signal)).toMatchObject({
      state: "failed",
      says: expect.stringContaining(`${file}: rule 2 (allow Bash(): match has no closing bracket`),
      remedy: expect.stringContaining("Correct the file"),
    });
  });

  test("is what the running server says of its own", async () => {
    writeFileSync(file, BAD);
    await using place = await openPlace({ args: ["--rules", file] });
    const config = readConfig({ dataDir: place.dataDir }, {});
    expect(await lookAtRules(config, true, signal)).toMatchObject({ step: "rules", state: "failed" });
  });
});
