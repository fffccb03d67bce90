import { expect, setDefaultTimeout, test } from "bun:test";
import { AddedRule } from "../../../src/contract/rules/answers.ts";
import type { RuleInput } from "../../../src/contract/rules/rule.ts";
import { OPERATOR } from "../open-core.ts";
import { asking, BASH, type RuledPlexus, ruling, startRuled } from "./ruled.ts";

setDefaultTimeout(60_000);

const own = async ({ app }: RuledPlexus) => (await app.rules.list(OPERATOR)).filter(({ tier }) => tier !== "builtin");

test("adding the same rule again returns the caller's existing rule, over MCP and REST", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const rule = { decision: "allow", match: "Bash(npm run *)", session_id: session.id };
  const parent = await plexus.connect();
  const first = await parent.call("loopback_rule_add", rule);
  expect(first.value).not.toHaveProperty("existing");
  const again = await parent.call("loopback_rule_add", rule);
  expect(again.value).toEqual({ ...first.value, existing: true });
  const post = (body: object) => plexus.fetch("/api/v1/rules", { method: "POST", body: JSON.stringify(body) });
  const posted = await post(rule);
  expect(posted.status).toBe(200);
  expect(AddedRule.parse(await posted.json())).toMatchObject({
    existing: true,
    rule: { id: Object(first.value["rule"]).id },
  });
  const other = await post({ ...rule, decision: "deny" });
  expect(other.status).toBe(201);
  expect(await other.json()).not.toHaveProperty("existing");
  expect(await own(plexus)).toHaveLength(2);
  // A rule with limits of its own never equals another.
  for (let count = 0; count < 2; count++) expect((await post({ ...rule, uses: 1 })).status).toBe(201);
});

test("a rule that differs only in its reason is the existing one, and a note says that the new reason is not kept", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const rule = { decision: "deny", match: "Bash(git push *)", session_id: session.id };
  const parent = await plexus.connect();
  const first = await parent.call("loopback_rule_add", { ...rule, reason: "open a pull request" });
  const again = await parent.call("loopback_rule_add", { ...rule, reason: "not from here" });
  expect(again.value).toMatchObject({
    existing: true,
    rule: { id: Object(first.value["rule"]).id, reason: "open a pull request" },
    note: "You have this rule already, with another reason, which stays: the new one is not kept.",
  });
  expect((await parent.call("loopback_rule_add", rule)).value).not.toHaveProperty("note");
  const npm = { decision: "deny", match: "Bash(npm publish)", session_id: session.id };
  using waiting = await asking(plexus, session, BASH("npm publish"));
  await plexus.add({ ...npm, mode: "shadow", reason: "a" } as RuleInput);
  const remember = { scope: "session", match: "Bash(npm publish)" };
  const decided = { approval_id: waiting.approvalId, approve: false, message: "b", remember };
  expect((await parent.call("loopback_respond", decided)).value).not.toHaveProperty("rule_note");
  expect(await own(plexus)).toHaveLength(3);
});

test("remembering with different reasons makes one rule, with the first reason", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const remember = { scope: "session", match: "Bash(touch *)" };
  using one = await asking(plexus, session, BASH("touch a"));
  using two = await asking(plexus, session, BASH("touch b"));
  const parent = await plexus.connect();
  const decisions = [
    { approval_id: one.approvalId, approve: false, message: "first", remember },
    { approval_id: two.approvalId, approve: false, message: "second", remember },
  ];
  const { value } = await parent.call("loopback_respond", { decisions });
  expect(value["results"]).toMatchObject([{ rule: { reason: "first" } }, { type: "ok" }]);
  expect(await own(plexus)).toMatchObject([{ match: "Bash(touch *)", reason: "first" }]);
});

test("a new rule names the pending requests that it decided, if its maker may see them", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const [mine, theirs] = [await plexus.session("mine"), await plexus.session("theirs", principal)];
  const ask = async (session: typeof mine, command: string) => asking(plexus, session, BASH(command));
  using one = await ask(mine, "touch one");
  using _other = await ask(mine, "mkdir other");
  using two = await ask(theirs, "touch two");
  const { rule, ...added } = await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash(touch *)" });
  expect(added).toEqual({ decided_pending: [one.approvalId, two.approvalId].sort() });
  expect(await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash(touch *)" })).toEqual({
    rule: { ...rule, hits: expect.any(Number), last_hit_at: expect.any(Number) },
    existing: true,
  });
  const none = await plexus.app.rules.add(principal, { decision: "allow", match: "Bash(mkdir *)" });
  expect(none).not.toHaveProperty("decided_pending");
});

test("a new rule names at most a hundred decided requests, and says that there are more", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  for (let at = 0; at < 101; at++)
    await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: `touch ${at}` } });
  const { decided_pending, has_more } = await plexus.app.rules.add(OPERATOR, { decision: "deny", match: "Bash" });
  expect([decided_pending?.length, has_more]).toEqual([100, true]);
});

test("a token does not get the operator's rule for one of its own, which ends with the token", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const session = await plexus.session("child", principal);
  const rule = { decision: "allow", match: "Bash(npm test)", session_id: session.id } as const;
  const byOperator = await plexus.app.rules.add(OPERATOR, rule);
  const byToken = await plexus.app.rules.add(principal, rule);
  expect(byToken).not.toHaveProperty("existing");
  expect(byToken.rule.id).not.toBe(byOperator.rule.id);
});

test("remembering 60 equal decisions in one call makes one rule, and the answer shows it once", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const waiting = [];
  for (let at = 0; at < 60; at++) waiting.push(await asking(plexus, session, BASH(`mkdir d${at}`)));
  const parent = await plexus.connect();
  const decisions = waiting.map(({ approvalId: approval_id }) => ({
    ...{ approval_id, approve: true, remember: { scope: "session" } },
  }));
  const { value } = await parent.call("loopback_respond", { decisions });
  const results = value["results"] as { type: string; rule?: { id: string } }[];
  expect(results.every(({ type }) => type === "ok")).toBe(true);
  const rules = await own(plexus);
  expect(rules).toMatchObject([{ match: "Bash(mkdir *)", tier: "session" }]);
  expect(results.flatMap(({ rule }) => rule?.id ?? [])).toEqual([rules[0]?.id ?? ""]);
  expect(await ruling(plexus, session, BASH("mkdir other"))).toMatchObject({ status: "allowed" });
  for (const one of waiting) one[Symbol.dispose]();
});

test("a note says what an allow rule leaves out when it is added, changed or tried", async () => {
  await using plexus = await startRuled();
  const parent = await plexus.connect();
  const nothing = expect.stringMatching(/^It allows nothing: a wildcard never covers a dangerous command/);
  const rule = { decision: "allow", match: "Bash(rm -rf *)" };
  const added = await parent.call("loopback_rule_add", rule);
  expect(added.value["note"]).toEqual(nothing);
  expect((await parent.call("loopback_rule_add", rule)).value).toMatchObject({ existing: true, note: nothing });
  expect((await parent.call("loopback_rule_test", rule)).value["note"]).toEqual(nothing);
  const { id } = Object(added.value["rule"]);
  const patch = async (body: object) =>
    Object(await (await plexus.fetch(`/api/v1/rules/${id}`, { method: "PATCH", body: JSON.stringify(body) })).json());
  expect((await patch({ match: "Bash" })).note).toContain("It does not allow commands that raise a danger");
  expect(await patch({ match: "Bash(npm test)" })).not.toHaveProperty("note");
  expect(await patch({ match: "Bash", decision: "deny" })).not.toHaveProperty("note");
});
