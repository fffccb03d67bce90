import { expect, setDefaultTimeout, test } from "bun:test";
import { ListAnswer } from "../../../src/contract/tools/session-answers.ts";
import { newConfig } from "../../storage/rows.ts";
import { bash, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

const OPERATOR = { kind: "operator" } as const;

test("a list shows each session's status, pending requests, cost and last activity", async () => {
  await using family = await startFamily();
  const before = Math.floor(Date.now() / 1000);
  await family.create("idle");
  await family.create("done");
  await family.run("done", [{ say: "done" }]);
  const asking = await family.create("asking");
  await family.start("asking", [{ use: [bash("touch one")] }]);
  await family.ask(asking);
  const { sessions, has_more } = await family.call("claudecode_list", {});
  expect(sessions).toMatchObject([
    { name: "asking", status: "awaiting_permission", pending: 1, cost_usd: 0 },
    { name: "done", status: "complete", pending: 0 },
    { name: "idle", status: "idle", pending: 0, cost_usd: 0 },
  ]);
  expect(has_more).toBe(false);
  // A directory appears once for adjacent sessions that share it.
  expect(sessions.map(({ working_dir }) => working_dir)).toEqual([family.place, undefined, undefined]);
  expect(JSON.stringify(sessions).length / 4).toBeLessThan(180);
  expect(sessions[1]?.cost_usd).toBeGreaterThan(0);
  for (const { last_activity_at } of sessions)
    expect(last_activity_at).toBeWithin(before, Math.floor(Date.now() / 1000) + 1);
  await family.call("claudecode_cancel", { name: "asking" });
});

test("a list of many sessions with long names and directories fits into results, page by page", async () => {
  await using family = await startFamily();
  for (let at = 0; at < 30; at++) {
    const config = newConfig({ working_dir: `/${at}${'"'.repeat(4_000)}` });
    await family.plexus.app.sessions.createManaged(OPERATOR, `${at}${"n".repeat(98)}`, config, () => []);
  }
  const { text, value } = await family.parent.call("claudecode_list", {});
  expect(text.length).toBeLessThanOrEqual(40_000);
  const { sessions, has_more } = ListAnswer.strip().parse(value);
  expect(sessions.length).toBeGreaterThan(1);
  expect(has_more).toBe(true);
  const names = sessions.map(({ name }) => name);
  const refusal = await family.refused("claudecode_list", { after: "zzz" });
  expect(refusal.message).toContain("after must be an id that claudecode_list has told");
  for (let after = sessions.at(-1)?.id; after !== undefined; ) {
    const page = await family.call("claudecode_list", { after });
    expect(page.sessions[0]).toHaveProperty("working_dir");
    names.push(...page.sessions.map(({ name }) => name));
    after = page.has_more ? page.sessions.at(-1)?.id : undefined;
  }
  expect(names).toEqual(Array.from({ length: 30 }, (_, at) => `${29 - at}${"n".repeat(98)}`));
});
