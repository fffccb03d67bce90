import { expect, test } from "bun:test";
import { ErrorResult } from "../../../src/contract/refusals/errors.ts";
import { Rule } from "../../../src/contract/rules/rule.ts";
import { OPERATOR } from "../open-core.ts";
import { asking, BASH, ruling, rulingOn, startRuled } from "./ruled.ts";

test("remembering a decision makes the suggested rule for its session, and shows it", async () => {
  await using plexus = await startRuled();
  const [session, other] = [await plexus.session(), await plexus.session("other")];
  using waiting = await asking(plexus, session, BASH("npm test"));
  const operator = await plexus.connect();
  const { value: got } = await operator.call("loopback_get", { approval_id: waiting.approvalId });
  const suggested = Object(got["approval"])["suggested_rule"];
  const { value } = await operator.call("loopback_respond", {
    approval_id: waiting.approvalId,
    approve: true,
    remember: { scope: "session" },
  });
  const rule = Rule.parse(value["rule"]);
  expect(rule).toMatchObject({
    ...{ decision: "allow", match: suggested, tier: "session", session_id: session.id },
    ...{ created_by: "operator", from_approval_id: waiting.approvalId, hits: 0 },
  });
  expect(await ruling(plexus, session, BASH("npm test"))).toMatchObject({ status: "allowed", by: `rule:${rule.id}` });
  expect(await ruling(plexus, other, BASH("npm test"))).toMatchObject({ status: "pending" });
});

test("scope always covers every session of the creator, even if the operator decides", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const [one, two] = [await plexus.session("one", principal), await plexus.session("two", principal)];
  const mine = await plexus.session("mine");
  using waiting = await asking(plexus, one, BASH("npm test"));
  const remember = { scope: "always" } as const;
  const decided = await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true, remember });
  expect(decided).toMatchObject({ type: "ok", rule: { tier: "token", owner: "token:agent", created_by: "operator" } });
  expect(await ruling(plexus, two, BASH("npm test"))).toMatchObject({ status: "allowed" });
  expect(await ruling(plexus, mine, BASH("npm test"))).toMatchObject({ status: "pending" });
  const [rule] = await plexus.app.rules.list(principal);
  expect(rule?.tier).not.toBeUndefined();
  // The rule binds the token, which did not make it.
  const id = "rule" in decided && decided.rule ? decided.rule.id : "";
  await expect(plexus.app.rules.remove(principal, id)).rejects.toMatchObject({ code: "not_found" });
});

test("remembering a denial keeps its reason, and whether it ends the turn", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  using waiting = await asking(plexus, session, BASH("npm test"));
  const decision = { approve: false, message: "use bun", interrupt: true, remember: { scope: "session" } } as const;
  const decided = await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, decision);
  expect(decided).toMatchObject({ rule: { decision: "deny", reason: "use bun", interrupt: true } });
  expect(await ruling(plexus, session, BASH("npm test"))).toMatchObject({ status: "denied", message: "use bun" });
  using again = await asking(plexus, session, BASH("npm test"));
  expect(await again.answer()).toEqual({ behavior: "deny", message: "use bun", interrupt: true });
});

test("a match that would not decide this very request is refused, and nothing is decided", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  using waiting = await asking(plexus, session, BASH("npm test"));
  const operator = await plexus.connect();
  const decide = async (approve: boolean, match: string) => {
    const remember = { scope: "session", match };
    const answer = await operator.call("loopback_respond", { approval_id: waiting.approvalId, approve, remember });
    expect([match, answer.isError]).toEqual([match, true]);
    return ErrorResult.parse(answer.value);
  };
  for (const [approve, match] of [
    [true, "Bash(npm install)"],
    [true, "Write"],
    [false, "Bash(npm install)"],
    [true, "Bash(npm"],
  ] as const)
    expect(await decide(approve, match)).toMatchObject({ code: "invalid_arguments" });
  expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
  expect((await plexus.app.rules.list(OPERATOR)).filter(({ tier }) => tier !== "builtin")).toEqual([]);
  const own = { scope: "session", match: "Bash(npm *)" } as const;
  const decided = await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true, remember: own });
  expect(decided).toMatchObject({ type: "ok", rule: { match: "Bash(npm *)" } });
});

test("a decision that came second makes no rule", async () => {
  await using plexus = await startRuled();
  using waiting = await asking(plexus, await plexus.session(), BASH("npm test"));
  const { decide } = plexus.app.approvals;
  const remember = { scope: "session" } as const;
  const [first, second] = await Promise.all([
    decide(OPERATOR, waiting.approvalId, { approve: false, remember }),
    decide(OPERATOR, waiting.approvalId, { approve: true, remember }),
  ]);
  expect([first.type, second.type]).toEqual(["ok", "already_resolved"]);
  expect(second).not.toHaveProperty("rule");
  const rules = (await plexus.app.rules.list(OPERATOR)).filter(({ tier }) => tier !== "builtin");
  expect(rules.map(({ decision }) => decision)).toEqual(["deny"]);
});

test("remembering an edited request uses the edited input", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  using waiting = await asking(plexus, session, BASH("npm tset"));
  const decision = { approve: true, updated_input: { command: "npm test" }, remember: { scope: "session" } } as const;
  await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, decision);
  expect(await ruling(plexus, session, BASH("npm test"))).toMatchObject({ status: "allowed" });
  expect(await ruling(plexus, session, BASH("npm tset"))).toMatchObject({ status: "pending" });
});

test("without a match the rule matches the input that runs, over MCP, in a batch and over REST; for a denial, the requested input", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const parent = await plexus.connect();
  const remember = { scope: "session" };
  using one = await asking(plexus, session, BASH("mkdir d.txt"));
  const edited = { approve: true, updated_input: { command: "touch e.txt" }, remember };
  const alone = await parent.call("loopback_respond", { approval_id: one.approvalId, ...edited });
  expect(alone.value["rule"]).toMatchObject({ decision: "allow", match: "Bash(touch *)" });
  using two = await asking(plexus, session, BASH("pytest d.txt"));
  const merged = { approve: true, updated_input: { command: "mkdir e" }, merge: true, remember };
  const many = await parent.call("loopback_respond", { decisions: [{ approval_id: two.approvalId, ...merged }] });
  expect(many.value["results"]).toMatchObject([{ rule: { decision: "allow", match: "Bash(mkdir *)" } }]);
  using three = await asking(plexus, session, BASH("cargo build"));
  const posted = await plexus.fetch(`/api/v1/approvals/${three.approvalId}/respond`, {
    method: "POST",
    body: JSON.stringify({ approve: true, updated_input: { command: "go test ./..." }, remember }),
  });
  expect(await posted.json()).toMatchObject({ rule: { decision: "allow", match: "Bash(go test *)" } });
  using four = await asking(plexus, session, BASH("npm test"));
  const denial = await parent.call("loopback_respond", { approval_id: four.approvalId, approve: false, remember });
  expect(denial.value["rule"]).toMatchObject({ decision: "deny", match: "Bash(npm test)" });
});

test("a call that no rule can allow says so when it is read, and when someone tries to remember it", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const parent = await plexus.connect();
  const why = "no rule can allow it, since it is not only literal words ($X): variables";
  using waiting = await asking(plexus, session, BASH("npm test $X"));
  const { approvalId: approval_id } = waiting;
  const { value: got } = await parent.call("loopback_get", { approval_id });
  expect(Object(got["approval"])["no_rule"]).toStartWith(why);
  const read = Object(await (await plexus.fetch(`/api/v1/approvals/${approval_id}`)).json()).approval;
  expect(read).toMatchObject({ no_rule: Object(got["approval"])["no_rule"] });
  expect(read).not.toHaveProperty("suggested_rule");
  for (const match of [undefined, "Bash(npm test *)", "*"]) {
    const remember = { scope: "session", ...(match !== undefined && { match }) };
    const { value, isError } = await parent.call("loopback_respond", { approval_id, approve: true, remember });
    expect([match, isError]).toEqual([match, true]);
    expect(ErrorResult.parse(value).message).toMatch(/^No rule can allow it, since .*: decide it without remember\.$/);
    const body = JSON.stringify({ approve: true, remember });
    const posted = await plexus.fetch(`/api/v1/approvals/${approval_id}/respond`, { method: "POST", body });
    expect(Object(await posted.json()).error.message).toMatch(/^No rule can allow it, since /);
  }
  expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
  // A denial needs no proof.
  const remember = { scope: "session", match: "Bash(npm test)" } as const;
  const denied = await plexus.app.approvals.decide(OPERATOR, approval_id, { approve: false, remember });
  expect(denied).toMatchObject({ rule: { decision: "deny", match: "Bash(npm test)" } });
});

test("a command that only writes a file is remembered by the file", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  using waiting = await asking(plexus, session, BASH("echo x >> pw"));
  const decision = { approve: true, remember: { scope: "session" } } as const;
  const decided = await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, decision);
  expect(decided).toMatchObject({ rule: { decision: "allow", match: "Edit(./pw)" } });
  expect(await ruling(plexus, session, BASH("echo y >> pw"))).toMatchObject({ status: "allowed" });
});

test("a match that does not decide the request is refused with the reason, and names a suggestion only if there is one", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const refusal = async (command: string, match: string) => {
    using waiting = await asking(plexus, session, BASH(command));
    const remember = { scope: "session", match } as const;
    const decision = plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true, remember });
    return decision.catch((cause: Error) => cause.message);
  };
  expect(await refusal("npm test", "Bash(npm install)")).toEndWith(
    "would not decide this request: nothing was decided. Widen it, or leave match out to use suggested_rule.",
  );
  expect(await refusal("npm run x > y", "Bash(npm run *)")).toEndWith(
    "would not decide this request (Bash(npm run *) does not cover it: it writes to y (redirect)): nothing was decided. Widen it.",
  );
});

test("no rule is suggested or remembered that a rule in force would overrule", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const offered = async (command: string) => {
    using waiting = await asking(plexus, session, BASH(command));
    const { app } = plexus;
    const { suggested_rule, no_rule } = await app.approvalViews.show(
      await app.approvals.get(OPERATOR, waiting.approvalId),
      OPERATOR,
    );
    await app.approvals.decide(OPERATOR, waiting.approvalId, { approve: false });
    return suggested_rule ?? no_rule;
  };
  expect(await offered("cargo test parser")).toBe("Bash(cargo test *)");
  plexus.write("docs/a.md");
  expect(await offered("prettier --write docs")).toBe("Bash(prettier *)");
  await plexus.add({ decision: "ask", match: "Bash(cargo *)" });
  expect(await offered("cargo test parser")).toBe("no rule can allow it, since Bash(cargo *) is a rule to ask");
  await plexus.add({ decision: "deny", match: "Edit(./docs/**)" });
  // It may change a denied file, so only its exact words allow it.
  expect(await offered("prettier --write docs")).toBe("Bash(prettier --write docs)");
  using waiting = await asking(plexus, session, BASH("cargo test parser"));
  const remember = { scope: "session", match: "Bash(cargo test *)" } as const;
  await expect(
    plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true, remember }),
  ).rejects.toMatchObject({ message: expect.stringContaining("Bash(cargo *) is a rule to ask") });
  const denied = await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, {
    approve: false,
    remember: { scope: "session" },
  });
  expect(denied).toMatchObject({ rule: { decision: "deny", match: "Bash(cargo test *)" } });
});

test("remembering a decision says what its rule leaves out, over MCP, in a batch and over REST", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  const parent = await plexus.connect();
  const remember = { scope: "session" };
  using one = await asking(plexus, session, BASH("touch a"));
  const alone = await parent.call("loopback_respond", { approval_id: one.approvalId, approve: true, remember });
  const note = expect.stringMatching(/^It does not allow redirects to files.*: these still ask\.$/);
  expect(alone.value).toMatchObject({ rule: { match: "Bash(touch *)" }, rule_note: note });
  using two = await asking(plexus, session, BASH("mkdir a"));
  const decisions = [{ approval_id: two.approvalId, approve: true, remember }];
  const many = await parent.call("loopback_respond", { decisions });
  expect(many.value["results"]).toMatchObject([{ rule: { match: "Bash(mkdir *)" }, rule_note: note }]);
  using three = await asking(plexus, session, BASH("npm test"));
  const body = JSON.stringify({ approve: true, remember });
  const posted = await plexus.fetch(`/api/v1/approvals/${three.approvalId}/respond`, { method: "POST", body });
  const answer = await posted.json();
  expect(answer).toMatchObject({ rule: { match: "Bash(npm test)" } });
  expect(answer).not.toHaveProperty("rule_note");
});
