import { describe, expect, test } from "bun:test";
import type { RuleDecision } from "../../../../src/contract/rules/rule.ts";
import type { Session } from "../../../../src/core/sessions/sessions.ts";
import { openDirect } from "../../../storage/sqlite/support/direct.ts";
import { OPERATOR } from "../../open-core.ts";
import { asking, BASH, type RuledPlexus, ruling, startRuled } from "../ruled.ts";

type Decided = "allowed" | "denied";

/** Makes a request, and decides it as a person. */
async function decided(plexus: RuledPlexus, session: Session, command: string, status: Decided): Promise<string> {
  using waiting = await asking(plexus, session, BASH(command));
  await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: status === "allowed" });
  return waiting.approvalId;
}

const tried = (plexus: RuledPlexus, decision: RuleDecision, match: string, session_id?: string) =>
  plexus.app.ruleHistory.test(OPERATOR, { decision, match, session_id });

describe("a rule that is tried on the past", () => {
  test("counts the calls that it would have decided, and names those that were decided otherwise", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    await decided(plexus, session, "touch a", "allowed");
    const denied = await decided(plexus, session, "touch b", "denied");
    const allowed = await decided(plexus, session, "rm -f c", "allowed");
    await decided(plexus, session, "mkdir c", "denied");
    expect(await tried(plexus, "allow", "Bash(touch *)")).toMatchObject({
      ...{ type: "ok", decided: 2, has_more: false, tested: 4 },
      contradictions: [{ approval_id: denied, was: "denied", would_be: "allow", tool: "Bash", input: "touch b" }],
    });
    expect(await tried(plexus, "deny", "Bash(rm *)")).toMatchObject({
      decided: 1,
      contradictions: [{ approval_id: allowed, was: "allowed", would_be: "deny", tool: "Bash", input: "rm -f c" }],
    });
    // With an ask rule, people decide as before, so nothing contradicts it.
    expect(await tried(plexus, "ask", "Bash")).toMatchObject({ decided: 4, contradictions: [] });
    expect(await tried(plexus, "allow", "Read")).toMatchObject({ decided: 0, tested: 0 });
  });

  test("counts commands that write covered files by redirects", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    for (const command of ["echo a > out/a", "echo a > b", "make > out/a"])
      await decided(plexus, session, command, "allowed");
    expect(await tried(plexus, "allow", "Edit(./out/**)")).toMatchObject({ decided: 1 });
    expect(await tried(plexus, "allow", "Write")).toMatchObject({ decided: 2 });
    expect(await tried(plexus, "allow", "*")).toMatchObject({ decided: 3 });
  });

  test("counts only decisions of people and agents, as a shadow rule does", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    const { id } = await plexus.add({ decision: "deny", match: "Bash(touch ruled)" });
    using ruled = await asking(plexus, session, BASH("touch ruled"));
    await plexus.app.rules.remove(OPERATOR, id);
    using late = await asking(plexus, { ...session, loopbackTimeoutSecs: 0 }, BASH("touch late"));
    await plexus.app.approvals.expire();
    const shadow = await plexus.add({ decision: "allow", match: "Bash(touch *)", mode: "shadow" });
    using again = await asking(plexus, { ...session, loopbackTimeoutSecs: 0 }, BASH("touch later"));
    await plexus.app.approvals.expire();
    await decided(plexus, session, "touch by-person", "allowed");
    const cut = await decided(plexus, session, "touch cut", "denied");
    using pending = await asking(plexus, session, BASH("touch pending"));
    const file_path = plexus.write("a.txt");
    using builtin = await asking(plexus, session, ["Read", { file_path }]);
    using direct = openDirect(plexus.dataDir);
    direct.sqlite.run("UPDATE loopback_approvals SET input = '{}', input_cut_at = 1 WHERE id = ?", [cut]);
    expect(await tried(plexus, "allow", "Bash(touch *)")).toMatchObject({ decided: 1, tested: 1, contradictions: [] });
    expect(await tried(plexus, "deny", "Read")).toMatchObject({ decided: 0, tested: 1 });
    // The shadow rule saw the decision whose input was removed since.
    const listed = (await plexus.app.rules.list(OPERATOR)).find(({ id: one }) => one === shadow.id);
    expect(listed?.shadow).toMatchObject({ would_decide: 2, contradictions: 1 });
    const asked = [ruled, late, again, pending, builtin];
    expect(asked.map(({ approvalId }) => typeof approvalId)).toEqual(Array(5).fill("string"));
  });

  test("sees only the caller's own past, or that of one session", async () => {
    await using plexus = await startRuled();
    const { principal } = await plexus.token("agent");
    const [mine, other] = [await plexus.session("mine"), await plexus.session("other")];
    const theirs = await plexus.session("theirs", principal);
    for (const session of [mine, mine, other, theirs]) await decided(plexus, session, "touch a", "denied");
    const rule = { decision: "allow", match: "Bash(touch *)" } as const;
    const count = async (by: typeof principal, session_id?: string) => {
      const { decided, contradictions } = await plexus.app.ruleHistory.test(by, { ...rule, session_id });
      return [decided, contradictions.length];
    };
    expect(await count(OPERATOR)).toEqual([4, 4]);
    expect(await count(OPERATOR, mine.id)).toEqual([2, 2]);
    expect(await count(principal)).toEqual([1, 1]);
    await expect(count(principal, mine.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("names at most fifty contradictions, and says that there are more", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    for (let count = 0; count < 51; count++) await decided(plexus, session, `touch ${count}`, "denied");
    const { decided: count, contradictions, has_more } = await tried(plexus, "allow", "Bash(touch *)");
    expect([count, contradictions.length, has_more]).toEqual([51, 50, true]);
  });

  test("takes a call instead of a rule, and says what would be decided now, and by which rule", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    const { id } = await plexus.add({ decision: "deny", match: "Bash(rm *)" });
    const call = (command: string) => ({ tool_name: "Bash", input: { command }, session_id: session.id });
    const { test } = plexus.app.ruleHistory;
    expect(await test(OPERATOR, call("sudo rm a"))).toMatchObject({ would_be: "deny", by: `rule:${id}`, decided: 1 });
    expect(await test(OPERATOR, call("touch a"))).toMatchObject({ would_be: "ask", decided: 0 });
    expect(await test(OPERATOR, call("ls"))).toMatchObject({ would_be: "allow", by: "builtin:bash" });
    expect((await plexus.app.approvals.list(OPERATOR, { limit: 10, withBuiltin: true })).approvals).toEqual([]);
  });
});

describe("suggestions", () => {
  test("are rules that would have saved decisions and contradict none, most useful first", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    for (let count = 0; count < 2; count++) await decided(plexus, session, "npm test", "allowed");
    for (let count = 0; count < 4; count++) await decided(plexus, session, "cargo build", "allowed");
    for (let count = 0; count < 5; count++) await decided(plexus, session, "make all", "allowed");
    await decided(plexus, session, "make all", "denied");
    await decided(plexus, session, "git push", "allowed");
    const suggestions = await plexus.app.ruleHistory.suggest(OPERATOR, undefined);
    expect(suggestions.map(({ decided: saved }) => saved)).toEqual([4, 2]);
    for (const { rule, decided: saved, contradictions } of suggestions) {
      expect(contradictions).toBe(0);
      expect(await tried(plexus, rule.decision, rule.match)).toMatchObject({ decided: saved, contradictions: [] });
    }
    expect(suggestions.map(({ rule }) => rule.match)).toEqual([
      expect.stringContaining("cargo"),
      expect.stringContaining("npm"),
    ]);
    expect(await plexus.app.ruleHistory.suggest(OPERATOR, (await plexus.session("other")).id)).toEqual([]);
  });

  test("leave out a rule that a rule in force would overrule", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    plexus.write("docs/a.md");
    for (let count = 0; count < 2; count++) await decided(plexus, session, "prettier --write docs", "allowed");
    const suggested = async () =>
      (await plexus.app.ruleHistory.suggest(OPERATOR, undefined)).map(({ rule }) => rule.match);
    expect(await suggested()).toEqual(["Bash(prettier *)"]);
    const { id } = await plexus.add({ decision: "deny", match: "Edit(./docs/**)" });
    expect(await suggested()).toEqual([]);
    await plexus.app.rules.remove(OPERATOR, id);
    await plexus.add({ decision: "deny", match: "Bash(git push *)" });
    expect(await suggested()).toEqual(["Bash(prettier *)"]);
  });

  test("leave out calls that a present rule decides, in the sessions where it applies", async () => {
    await using plexus = await startRuled();
    const [one, two] = [await plexus.session("one"), await plexus.session("two")];
    for (const command of [
      "touch a",
      "touch b",
      "mkdir a",
      "mkdir b",
      "npm test",
      "npm test",
      "go test ./...",
      "go test ./x",
    ])
      await decided(plexus, one, command, "allowed");
    const suggested = async (key?: string) =>
      (await plexus.app.ruleHistory.suggest(OPERATOR, key)).map(({ rule }) => rule.match).toSorted();
    const all = ["Bash(go test *)", "Bash(mkdir *)", "Bash(npm test)", "Bash(touch *)"];
    expect(await suggested()).toEqual(all);
    // The same rule, a rule that covers it, an ask rule that beats it, and one that decides nothing.
    await plexus.add({ decision: "allow", match: "Bash(touch *)", session_id: one.id });
    await plexus.add({ decision: "allow", match: "Bash(npm *)" });
    await plexus.add({ decision: "ask", match: "Bash(go)" });
    await plexus.add({ decision: "allow", match: "Bash(mkdir *)", mode: "shadow" });
    expect(await suggested()).toEqual(["Bash(mkdir *)"]);
    expect(await suggested(one.id)).toEqual(["Bash(mkdir *)"]);
    for (const command of ["touch c", "touch d"]) await decided(plexus, two, command, "allowed");
    expect(await suggested()).toEqual(["Bash(mkdir *)", "Bash(touch *)"]);
  });

  test("leave out calls that rules decided", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    await plexus.add({ decision: "allow", match: "Bash(touch *)" });
    for (let count = 0; count < 5; count++) await ruling(plexus, session, BASH(`touch ${count}`));
    expect(await plexus.app.ruleHistory.suggest(OPERATOR, undefined)).toEqual([]);
  });
});
