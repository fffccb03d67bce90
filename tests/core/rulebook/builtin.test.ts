import { expect, test } from "bun:test";
import { OPERATOR } from "../open-core.ts";
import { BASH, ruling, startRuled } from "./ruled.ts";

test("an ask or deny rule of any owner tightens a built-in rule in the sessions that it binds", async () => {
  await using plexus = await startRuled();
  const file_path = plexus.write("notes.txt");
  const session = await plexus.session();
  const read = () => ruling(plexus, session, ["Read", { file_path }]);
  expect(await read()).toMatchObject({ status: "allowed", by: "builtin:read" });
  const asking = await plexus.add({ decision: "ask", match: "Read(./notes.txt)", session_id: session.id });
  expect(await read()).toMatchObject({ status: "pending" });
  const { id } = await plexus.add({ decision: "deny", match: "Read", reason: "not here" });
  expect(await read()).toMatchObject({ status: "denied", by: `rule:${id}`, message: "not here" });
  for (const rule of [asking.id, id]) await plexus.app.rules.remove(OPERATOR, rule);
  expect(await read()).toMatchObject({ status: "allowed", by: "builtin:read" });
});

test("a command can't read a file that a rule forbids to read", async () => {
  await using plexus = await startRuled();
  plexus.write("secret/x", "s3cret\n");
  plexus.write("open/y");
  const session = await plexus.session();
  const calls: Parameters<typeof ruling>[2][] = [
    ["Grep", { pattern: "s3" }],
    ["Grep", { pattern: "s3", path: plexus.place, output_mode: "content" }],
    BASH("cat secret/x"),
    BASH("grep -r s3 ."),
    BASH("cat secret/*"),
  ];
  for (const call of calls) {
    const before = await ruling(plexus, session, call);
    if (call[1]["command"] !== "cat secret/*")
      expect([call, before.by]).toEqual([call, expect.stringMatching(/^builtin:/)]);
  }
  await plexus.add({ decision: "deny", match: "Read(./secret/**)" });
  for (const call of calls) {
    const after = await ruling(plexus, session, call);
    expect([call, after.status]).toEqual([call, expect.stringMatching(/^(denied|pending)$/)]);
  }
  expect(await ruling(plexus, session, ["Read", { file_path: `${plexus.place}/secret/x` }])).toMatchObject({
    status: "denied",
  });
  expect(await ruling(plexus, session, BASH("cat open/y"))).toMatchObject({ status: "allowed" });
  expect(await ruling(plexus, session, ["Grep", { pattern: "t", path: `${plexus.place}/open` }])).toMatchObject({
    status: "allowed",
  });
});

test("hits of built-in rules are counted: a token sees those of its own sessions, the operator all", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const { principal: other } = await plexus.token("other");
  const file_path = plexus.write("a");
  await ruling(plexus, await plexus.session(), ["Read", { file_path }]);
  for (let count = 0; count < 2; count++)
    await ruling(plexus, await plexus.session(`child ${count}`, principal), ["Read", { file_path }]);
  const hits = async (by: typeof principal) =>
    (await plexus.app.rules.list(by)).find(({ id }) => id === "builtin:read")?.hits;
  expect([await hits(OPERATOR), await hits(principal), await hits(other)]).toEqual([3, 2, 0]);
});
