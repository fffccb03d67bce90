import { expect, test } from "bun:test";
import { asking, BASH, ruling, rulingOn, startRuled } from "./ruled.ts";

const GRANT = ["Bash(npm *)", "Edit(./src/**)"];

test("a token with a grant allows only what it covers, denies anything, and everything else waits for the operator", async () => {
  await using plexus = await startRuled();
  const { principal, secret } = await plexus.token("agent", GRANT);
  const session = await plexus.session("child", principal);
  const { decide } = plexus.app.approvals;
  using inside = await asking(plexus, session, BASH("npm test"));
  using outside = await asking(plexus, session, BASH("git push"));
  using both = await asking(plexus, session, BASH("npm test && git push"));
  const agent = await plexus.connect(secret);
  const shown = async (client: typeof agent) => {
    const { value } = await client.call("loopback_pending", { session_id: session.id });
    return (value["approvals"] as { escalates?: true }[]).map(({ escalates }) => escalates ?? false);
  };
  expect(await shown(agent)).toEqual([false, true, true]);
  expect(await shown(await plexus.connect())).toEqual([false, false, false]);

  expect(await decide(principal, inside.approvalId, { approve: true })).toMatchObject({ type: "ok" });
  for (const { approvalId } of [outside, both]) {
    const allowing = decide(principal, approvalId, { approve: true });
    await expect(allowing).rejects.toMatchObject({ code: "forbidden", message: expect.stringContaining("grant") });
  }
  expect(await rulingOn(plexus, outside)).toMatchObject({ status: "pending" });
  expect(await decide(principal, outside.approvalId, { approve: false })).toMatchObject({ type: "ok" });
  expect(await decide({ kind: "operator" }, both.approvalId, { approve: true })).toMatchObject({ type: "ok" });
});

test("a token with a grant can't edit its way out of it, and may edit its way in", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent", GRANT);
  const session = await plexus.session("child", principal);
  const { decide } = plexus.app.approvals;
  using waiting = await asking(plexus, session, BASH("npm test"));
  const out = decide(principal, waiting.approvalId, { approve: true, updated_input: { command: "git push" } });
  await expect(out).rejects.toMatchObject({ code: "forbidden" });
  using other = await asking(plexus, session, BASH("git push"));
  const within = { approve: true, updated_input: { command: "npm run push" } };
  expect(await decide(principal, other.approvalId, within)).toMatchObject({ type: "ok" });
});

test("a token's allow rules count only inside its grant, its deny rules everywhere", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent", GRANT);
  const session = await plexus.session("child", principal);
  await plexus.add({ decision: "allow", match: "Bash(npm *)" }, principal);
  await plexus.add({ decision: "allow", match: "Bash(git *)", session_id: session.id }, principal);
  expect(await ruling(plexus, session, BASH("npm test"))).toMatchObject({ status: "allowed" });
  expect(await ruling(plexus, session, BASH("git status"))).toMatchObject({ status: "pending" });
  const { id } = await plexus.add({ decision: "allow", match: "Bash(git *)" });
  expect(await ruling(plexus, session, BASH("git stash"))).toMatchObject({ status: "allowed", by: `rule:${id}` });
  await plexus.add({ decision: "deny", match: "Bash(git stash)" }, principal);
  expect(await ruling(plexus, session, BASH("git stash"))).toMatchObject({ status: "denied" });
});

test("remembering outside of the token's grant is refused, and nothing is decided", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent", GRANT);
  using waiting = await asking(plexus, await plexus.session("child", principal), BASH("git push"));
  const remember = { scope: "always" } as const;
  const decided = plexus.app.approvals.decide(principal, waiting.approvalId, { approve: true, remember });
  await expect(decided).rejects.toMatchObject({ code: "forbidden" });
  expect((await plexus.app.rules.list(principal)).filter(({ tier }) => tier !== "builtin")).toEqual([]);
});

test("an empty grant allows nothing, and a token without a grant has no limit", async () => {
  await using plexus = await startRuled();
  for (const [name, grant, code] of [
    ["none", [], "forbidden"],
    ["all", undefined, undefined],
  ] as const) {
    const { principal } = await plexus.token(name, grant && [...grant]);
    using waiting = await asking(plexus, await plexus.session("child", principal), BASH("npm test"));
    const decided = await plexus.app.approvals
      .decide(principal, waiting.approvalId, { approve: true })
      .catch((cause: unknown) => cause);
    if (code) expect(decided).toMatchObject({ code });
    else expect(decided).toMatchObject({ type: "ok" });
  }
});

test("a token sees its own rules and those that bind it, and changes only its own", async () => {
  await using plexus = await startRuled();
  const [a, b] = [await plexus.token("a"), await plexus.token("b")];
  const own = await plexus.add({ decision: "allow", match: "Bash(npm *)" }, a.principal);
  const binding = await plexus.add({ decision: "deny", match: "Bash(rm *)" });
  const idsOf = async ({ principal }: typeof a) =>
    (await plexus.app.rules.list(principal)).filter(({ tier }) => tier !== "builtin").map(({ id }) => id);
  expect(await idsOf(a)).toEqual([binding.id, own.id]);
  expect(await idsOf(b)).toEqual([binding.id]);
  for (const id of [own.id, binding.id]) {
    await expect(plexus.app.rules.remove(b.principal, id)).rejects.toMatchObject({ code: "not_found" });
    await expect(plexus.app.rules.change(b.principal, id, { mode: "shadow" })).rejects.toMatchObject({
      code: "not_found",
    });
  }
  const other = await plexus.session("child", b.principal);
  const adding = plexus.add({ decision: "allow", match: "Bash(npm *)", session_id: other.id }, a.principal);
  await expect(adding).rejects.toMatchObject({ code: "not_found" });
});

test("a token's allow rules end with it, even in a fork that the operator makes", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const { sessionCommands, tokens } = plexus.app;
  const asked = {
    name: "child",
    working_dir: plexus.place,
    rules: [
      { decision: "allow" as const, match: "Bash(touch *)" },
      { decision: "deny" as const, match: "Bash(rm *)" },
    ],
  };
  const session = await sessionCommands.create(principal, asked);
  expect(await ruling(plexus, session, BASH("touch a"))).toMatchObject({ status: "allowed" });
  await tokens.revoke("agent");
  expect(await ruling(plexus, session, BASH("touch a"))).toMatchObject({ status: "pending" });
  const fork = await sessionCommands.fork({ kind: "operator" }, session, "mine");
  expect(await ruling(plexus, fork, BASH("touch a"))).toMatchObject({ status: "pending" });
  expect(await ruling(plexus, fork, BASH("rm a"))).toMatchObject({ status: "denied" });
});
