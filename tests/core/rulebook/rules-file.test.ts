import { describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { OPERATOR } from "../open-core.ts";
import { asking, BASH, ruling, rulingOn, startRuled } from "./ruled.ts";

const GOOD = `
[[rule]]
decision = "allow"
match = "Bash(touch *)"
[rule.examples]
match = ["touch a", { tool_name = "Bash", input = { command = "touch b" } }]
not_match = ["rm a", "touch $(id)"]

[[rule]]
decision = "deny"
match = "Bash(rm *)"
reason = "keep it"
examples = { match = ["rm a", "sudo rm a"] }

[[rule]]
decision = "ask"
match = "Bash(touch asked)"
`;

const rule = (lines: string) => `${GOOD}\n[[rule]]\n${lines}\n`;
/** Common mistakes, and the problem that each reports. */
const MISTAKES: Record<string, [text: string, problem: RegExp]> = {
  "a syntax error": [`${GOOD}\n[[rule`, /./],
  "an unknown key": [rule('decision = "allow"\nmatch = "Write"\nwhy = "x"'), /rule 4.*why/],
  "an unknown key beside the rules": [`colour = "red"\n${GOOD}`, /colour/],
  "a pattern that can't be read": [rule('decision = "allow"\nmatch = "Bash(npm"'), /rule 4.*match/],
  "an unknown decision": [rule('decision = "maybe"\nmatch = "Write"'), /rule 4.*decision/],
  "an example that does not match": [
    rule('decision = "allow"\nmatch = "Bash(npm test)"\nexamples = { match = ["npm install"] }'),
    /does not match "npm install"/,
  ],
  "an example that must not match, and does": [
    rule('decision = "deny"\nmatch = "Bash(npm *)"\nexamples = { not_match = ["npm install"] }'),
    /matches "npm install"/,
  ],
  "an example that names no call": [
    rule('decision = "allow"\nmatch = "*"\nexamples = { match = ["npm install"] }'),
    /tool_name/,
  ],
  "an interrupt that denies nothing": [rule('decision = "allow"\nmatch = "Write"\ninterrupt = true'), /interrupt/],
  "more than a megabyte": [`${GOOD}\n#${"x".repeat(1024 * 1024)}`, /larger/],
};

async function startWithFile(text: string | undefined) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const path = join(directory.path, "rules.toml");
  if (text !== undefined) writeFileSync(path, text);
  const plexus = stack.use(await startRuled({ flags: { rules: path }, clocks: { rereadEveryMs: 20 } }));
  const session = await plexus.session();
  const owned = stack.move();
  const statusOf = async (command: string) => (await ruling(plexus, session, BASH(command))).status;
  return {
    ...plexus,
    path,
    session,
    sessionOf: plexus.session,
    /** The statuses of calls that the file allows, denies and asks about. */
    statuses: async () => [await statusOf("touch a"), await statusOf("rm a"), await statusOf("touch asked")],
    ready: async (token?: string | null) => {
      const response = await plexus.fetch("/readyz", token === undefined ? {} : { token });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const IN_FORCE = ["allowed", "denied", "pending"];
const WITHOUT_ALLOWS = ["pending", "denied", "pending"];

describe("the operator's file of rules", () => {
  test("applies to all sessions, in its own tier, and counts its hits", async () => {
    await using plexus = await startWithFile(GOOD);
    expect(await plexus.statuses()).toEqual(IN_FORCE);
    const { principal } = await plexus.token("agent");
    const theirs = await plexus.sessionOf("theirs", principal);
    expect(await ruling(plexus, theirs, BASH("touch a"))).toMatchObject({ status: "allowed" });
    const listed = (await plexus.app.rules.list(OPERATOR)).filter(({ tier }) => tier === "file");
    expect(listed.map(({ decision, hits }) => [decision, hits])).toEqual([
      ["deny", 1],
      ["ask", 1],
      ["allow", 2],
    ]);
    const { body } = await plexus.ready();
    expect(body.rules).toEqual({ path: plexus.path, ok: true, rules: 3, problems: [] });
  });

  for (const [mistake, [text, problem]] of Object.entries(MISTAKES)) {
    test(`with ${mistake} allows nothing, still denies and asks, reports it, and recovers without a restart`, async () => {
      await using plexus = await startWithFile(GOOD);
      expect(await plexus.statuses()).toEqual(IN_FORCE);
      writeFileSync(plexus.path, text);
      expect(await plexus.statuses()).toEqual(WITHOUT_ALLOWS);
      const { status, body } = await plexus.ready();
      expect([status, body.status, body.rules.ok]).toEqual([200, "ready", false]);
      expect(body.rules.problems.join("\n")).toMatch(problem);
      expect((await plexus.ready(null)).body).toEqual({ status: "ready" });
      expect(plexus.log.some((line) => line.includes("file of rules has a mistake"))).toBe(true);
      writeFileSync(plexus.path, GOOD);
      expect(await plexus.statuses()).toEqual(IN_FORCE);
    });
  }

  test("that is missing or unreadable allows nothing, and its deny and ask rules stay in force", async () => {
    await using plexus = await startWithFile(GOOD);
    expect(await plexus.statuses()).toEqual(IN_FORCE);
    const ways = [() => {}, () => mkdirSync(plexus.path), () => symlinkSync(plexus.path, plexus.path)];
    for (const put of ways) {
      rmSync(plexus.path, { recursive: true });
      put();
      expect(await plexus.statuses()).toEqual(WITHOUT_ALLOWS);
      expect((await plexus.ready()).body.rules).toMatchObject({ ok: false, problems: [expect.any(String)] });
      rmSync(plexus.path, { recursive: true, force: true });
      writeFileSync(plexus.path, GOOD);
      expect(await plexus.statuses()).toEqual(IN_FORCE);
    }
  });

  test("may be missing at the start, and applies once it exists", async () => {
    await using plexus = await startWithFile(undefined);
    expect(await plexus.statuses()).toEqual(["pending", "pending", "pending"]);
    expect((await plexus.ready()).body.rules).toMatchObject({ ok: false });
    writeFileSync(plexus.path, GOOD);
    expect(await plexus.statuses()).toEqual(IN_FORCE);
  });

  test("with a mistake from the start still applies the deny rules that can be read", async () => {
    await using plexus = await startWithFile(MISTAKES["an unknown key"]?.[0]);
    expect(await plexus.statuses()).toEqual(WITHOUT_ALLOWS);
  });

  test("is read again when an editor replaces it, and decides pending requests", async () => {
    await using plexus = await startWithFile("");
    using waiting = await asking(plexus, plexus.session, BASH("rm a"));
    expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
    writeFileSync(`${plexus.path}.new`, GOOD);
    renameSync(`${plexus.path}.new`, plexus.path);
    expect(await plexus.statuses()).toEqual(IN_FORCE);
    await until("what is pending to be denied", async () => (await rulingOn(plexus, waiting)).status === "denied");
    expect(await waiting.answer()).toEqual({ behavior: "deny", message: "keep it" });
  });
});
