import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { RuleDecision } from "../../../src/contract/rules/rule.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";
import { until } from "../../support/until.ts";
import { OPERATOR } from "../open-core.ts";
import { mixedCall, plantPast } from "./history/past-requests.ts";
import { asking, BASH, type RuledPlexus, startRuled } from "./ruled.ts";

const SOON = { clocks: { rereadEveryMs: 20 } };
const NEVER = { clocks: { rereadEveryMs: 1e9 } };

type Outline = { id: string; outline_key: string; outline: string | null };

function outlines({ dataDir }: RuledPlexus): Outline[] {
  using direct = openDirect(dataDir);
  return direct.sqlite.query<Outline, []>("SELECT * FROM call_outlines ORDER BY id").all();
}

async function outlined(plexus: RuledPlexus, count: number): Promise<Outline[]> {
  return until(`${count} outlines`, () => (outlines(plexus).length === count ? outlines(plexus) : undefined));
}

const tried = async ({ app }: RuledPlexus, decision: RuleDecision, match: string) =>
  (await app.ruleHistory.test(OPERATOR, { decision, match })).decided;

test("a request is outlined soon after it is asked, also while it is pending, and each once", async () => {
  await using plexus = await startRuled(SOON);
  const session = await plexus.session();
  using first = await asking(plexus, session, BASH("touch a"));
  const [one] = await outlined(plexus, 1);
  expect(one).toMatchObject({ id: first.approvalId, outline: expect.stringContaining('"touch"') });
  using second = await asking(plexus, session, BASH("touch b"));
  expect((await outlined(plexus, 2)).map(({ id }) => id)).toEqual([first.approvalId, second.approvalId]);
});

test("a rule is tried on where paths led when they were read, until its directory is another", async () => {
  await using plexus = await startRuled(NEVER);
  const working_dir = join(plexus.place, "work");
  for (const name of ["src", "other"]) mkdirSync(join(working_dir, name), { recursive: true });
  const { session } = await plexus.app.sessionCommands.configure(OPERATOR, { name: "child", working_dir });
  const link = join(working_dir, "link");
  symlinkSync("src", link);
  using waiting = await asking(plexus, session, ["Write", { file_path: join(link, "a.ts"), content: "" }]);
  await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true });
  expect(await tried(plexus, "allow", "Edit(./src/**)")).toBe(1);
  rmSync(link);
  symlinkSync("other", link);
  expect([await tried(plexus, "allow", "Edit(./src/**)"), await tried(plexus, "allow", "Edit(./other/**)")]).toEqual([
    1, 0,
  ]);
  renameSync(working_dir, `${working_dir}-moved`);
  symlinkSync(`${working_dir}-moved`, working_dir);
  expect([await tried(plexus, "allow", "Edit(./src/**)"), await tried(plexus, "allow", "Edit(./other/**)")]).toEqual([
    0, 1,
  ]);
});

test("what another matcher has read is read again, and a database that keeps nothing changes no answer", async () => {
  await using plexus = await startRuled(NEVER);
  const session = await plexus.session();
  for (const command of ["touch a", "rm -f b"]) {
    using waiting = await asking(plexus, session, BASH(command));
    await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true });
  }
  const rules = [
    ["allow", "*", 1],
    ["allow", "Bash", 1],
    ["deny", "Edit(./b)", 1],
    ["deny", "Bash(rm *)", 1],
  ] as const;
  const check = async () => {
    for (const [decision, match, count] of rules)
      expect([match, await tried(plexus, decision, match)]).toEqual([match, count]);
  };
  await check();
  const read = outlines(plexus);
  {
    using direct = openDirect(plexus.dataDir);
    direct.sqlite.run("UPDATE call_outlines SET outline_key = 'old', outline = '{}'");
  }
  await check();
  expect(outlines(plexus)).toEqual(read);
  {
    using direct = openDirect(plexus.dataDir);
    direct.sqlite.run("UPDATE call_outlines SET outline_key = 'old', outline = '{}'");
    direct.sqlite.run("CREATE TRIGGER full BEFORE UPDATE ON call_outlines BEGIN SELECT RAISE(ABORT, 'full'); END");
  }
  await check();
  expect(plexus.log.some((line) => line.includes("background work failed"))).toBe(true);
});

test("rules decide the same of calls before and after they are outlined", async () => {
  await using plexus = await startRuled(NEVER);
  const { id: sessionId } = await plexus.session();
  plantPast({ dataDir: plexus.dataDir, sessionId }, 400, (at) => ({
    ...mixedCall(at, plexus.place, "different"),
    status: "allowed",
  }));
  const matches = ["Bash(npm run *)", "Bash(git *)", "Bash(touch *)", "Bash(rm *)", "Bash(cat *)", "Bash(mkdir -p x)"];
  const counts = async () =>
    Promise.all(
      matches.flatMap((match) => (["allow", "deny"] as const).map((decision) => tried(plexus, decision, match))),
    );
  const before = await counts();
  expect(outlines(plexus)).toEqual([]);
  expect(await tried(plexus, "allow", "*")).toBeGreaterThan(0);
  expect(outlines(plexus)).toHaveLength(400);
  expect(await counts()).toEqual(before);
  expect(before.some((count) => count > 0)).toBe(true);
});
