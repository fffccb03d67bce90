import { expect, setDefaultTimeout, test } from "bun:test";
import { OPERATOR } from "../open-core.ts";
import { asking, BASH, type RuledPlexus, startRuled } from "./ruled.ts";

setDefaultTimeout(60_000);

const REDIRECT = "Bash(npm run *) does not cover it: it writes to out.log (redirect)";

/** What an agent with this token sees of the only waiting request. */
async function told(plexus: RuledPlexus, secret?: string) {
  const parent = await plexus.connect(secret);
  const { value } = await parent.call("loopback_pending");
  const [approval] = value["approvals"] as { id: string; why_asked?: string }[];
  return approval;
}

test("a request that a rule seems to allow says everywhere why it needs approval; other requests do not", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  await plexus.add({ decision: "allow", match: "Bash(npm run *)", session_id: session.id });
  using waiting = await asking(plexus, session, BASH("npm run build > out.log"));
  expect((await told(plexus))?.why_asked).toBe(REDIRECT);
  const read = await plexus.fetch(`/api/v1/approvals/${waiting.approvalId}`);
  expect(Object(await read.json()).approval.why_asked).toBe(REDIRECT);
  await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: false });
  using other = await asking(plexus, session, BASH("make all"));
  expect(await told(plexus)).toMatchObject({ id: other.approvalId });
  expect(await told(plexus)).not.toHaveProperty("why_asked");
});

test("the reason may be a shadow rule, a rule outside of its maker's grant, or an ask rule", async () => {
  await using plexus = await startRuled();
  const { principal, secret } = await plexus.token("agent", ["Bash(npm test)"]);
  const session = await plexus.session("child", principal);
  using _ = await asking(plexus, session, BASH("npm run build"));
  const shadow = await plexus.add({ decision: "allow", match: "Bash(npm run *)", mode: "shadow" });
  expect((await told(plexus, secret))?.why_asked).toBe(
    "Bash(npm run *) does not cover it: it is in shadow mode, and only records",
  );
  await plexus.app.rules.remove(OPERATOR, shadow.id);
  await plexus.add({ decision: "allow", match: "Bash(npm run build)" }, principal);
  expect((await told(plexus, secret))?.why_asked).toBe(
    "Bash(npm run build) does not cover it: the grant of whoever made it does not cover the call",
  );
  await plexus.add({ decision: "ask", match: "Bash(npm *)" });
  expect((await told(plexus, secret))?.why_asked).toBe("Bash(npm *) is a rule to ask");
});

test("trying a call names the rule that decides it, or why it needs approval", async () => {
  await using plexus = await startRuled();
  const session = await plexus.session();
  await plexus.add({ decision: "allow", match: "Bash(npm run *)" });
  const { id } = await plexus.add({ decision: "deny", match: "Bash(git push *)" });
  const parent = await plexus.connect();
  const tried = async (command: string) => {
    const call = { tool_name: "Bash", input: { command }, session_id: session.id };
    const { value } = await parent.call("loopback_rule_test", call);
    const posted = await plexus.fetch("/api/v1/rules/test", { method: "POST", body: JSON.stringify(call) });
    const { untrusted: _, ...answer } = value;
    // Over REST the answer has the fields of both forms.
    const decided = answer["would_be"] === "ask" ? 0 : 1;
    expect(await posted.json()).toEqual({ ...answer, decided, contradictions: [], has_more: false });
    return value;
  };
  expect(await tried("make all")).toMatchObject({
    suggested_rule: "Bash(make all)",
    why: "No rule is about such a call.",
  });
  expect(await tried("make $X")).toMatchObject({ no_rule: expect.stringContaining("it is not only literal words") });
  const asked = await tried("npm run build > out.log");
  expect(asked).toMatchObject({ would_be: "ask", why: REDIRECT, untrusted: ["why"] });
  expect(asked).not.toHaveProperty("match");
  expect(asked).not.toHaveProperty("contradictions");
  expect(await tried("npm run build && git push")).toMatchObject({ by: `rule:${id}`, match: "Bash(git push *)" });
  const allowed = await tried("npm run build");
  expect(allowed).toMatchObject({ would_be: "allow", match: "Bash(npm run *)" });
  for (const key of ["why", "suggested_rule", "no_rule"]) expect(allowed).not.toHaveProperty(key);
  const builtin = await tried("ls");
  expect(builtin).toMatchObject({ would_be: "allow", by: "builtin:bash" });
  expect(builtin).not.toHaveProperty("match");
});
