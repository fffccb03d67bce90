import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Rule } from "../../src/contract/rules/rule.ts";
import { IS_SOAK } from "../support/alike-rows.ts";
import { bash, eventsOf, type Family, startFamily } from "../support/sessions/family.ts";

setDefaultTimeout(180_000);

const ASKS = IS_SOAK ? 60 : 12;

async function called(family: Family, tool: string, args: object) {
  const { value, isError } = await family.parent.call(tool, args);
  expect({ tool, isError, value }).toMatchObject({ isError: false });
  return value;
}

const add = async (family: Family, rule: object) =>
  Rule.parse((await called(family, "loopback_rule_add", rule))["rule"]);

describe("a rule on the calls of a real child", () => {
  test("that was remembered decides all that follow, each with a row of its own, and no dangerous variant", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    const turns = Array.from({ length: ASKS }, (_, at) => ({ use: [bash(`mkdir -p made/${at}`)] }));
    await family.start("worker", [...turns, { use: [bash("mkdir -p $(cat /etc/hostname)")] }, { say: "done" }]);
    const first = await family.ask(id);
    const remember = { scope: "session", match: "Bash(mkdir *)" };
    const decided = await called(family, "loopback_respond", { approval_id: first.id, approve: true, remember });
    const rule = Rule.parse(decided["rule"]);
    const dangerous = await family.ask(id);
    expect(dangerous.input["command"]).toBe("mkdir -p $(cat /etc/hostname)");
    await family.respond(dangerous, { approve: false, message: "no" });
    const { status, events } = await family.ended("worker");
    expect(status).toBe("complete");
    const resolved = eventsOf(events, "approval_resolved").map(({ resolved_by }) => resolved_by);
    expect(resolved).toEqual(["operator", ...Array(ASKS - 1).fill(`rule:${rule.id}`), "operator"]);
    const ids = eventsOf(events, "approval_resolved").map(({ approval_id }) => approval_id);
    expect(new Set(ids).size).toBe(ASKS + 1);
    for (const approval_id of ids.slice(1, -1)) {
      const row = await family.plexus.app.approvals.get({ kind: "operator" }, approval_id);
      expect(row).toMatchObject({ status: "allowed", resolved_by: `rule:${rule.id}`, session_id: id });
    }
    expect(existsSync(join(family.place, "made", String(ASKS - 1)))).toBe(true);
    expect(await family.plexus.app.auditCheck.verify()).toMatchObject({ intact: true });
    const listed = await called(family, "loopback_rules", { session_id: id });
    expect(listed["rules"]).toContainEqual(expect.objectContaining({ id: rule.id, hits: ASKS - 1 }));
  });

  test("that denies and interrupts ends the turn as cancelled, with its reason", async () => {
    await using family = await startFamily();
    const reason = "This branch is frozen.";
    const rules = [{ decision: "deny", match: "Bash(touch *)", reason, interrupt: true }];
    await family.create("worker", { rules });
    await family.start("worker", [{ use: [bash("touch never")] }, { say: "never said" }]);
    const { status, last } = await family.ended("worker");
    expect({ status, last }).toEqual({ status: "cancelled", last: { type: "error", message: reason } });
    expect(existsSync(join(family.place, "never"))).toBe(false);
  });

  test("that is removed in the middle of a turn is asked about again", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    const rule = await add(family, { decision: "allow", match: "Bash(touch *)", session_id: id });
    await family.start("worker", [{ use: [bash("touch a")] }, { use: [bash("rmdir b")] }, { use: [bash("touch c")] }]);
    const between = await family.ask(id);
    expect([between.input["command"], existsSync(join(family.place, "a"))]).toEqual(["rmdir b", true]);
    await called(family, "loopback_rule_remove", { rule_id: rule.id });
    await family.respond(between, { approve: false, message: "go on" });
    const again = await family.ask(id);
    expect(again.input["command"]).toBe("touch c");
    await family.respond(again, { approve: true });
    const { events } = await family.ended("worker");
    const resolved = eventsOf(events, "approval_resolved").map(({ resolved_by }) => resolved_by);
    expect(resolved).toEqual([`rule:${rule.id}`, "operator", "operator"]);
  });

  test("can be tried on what it asked, and is suggested by what was decided", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    await family.start("worker", [{ use: [bash("npm test")] }, { use: [bash("npm test")] }]);
    for (let count = 0; count < 2; count++) await family.respond(await family.ask(id), { approve: true });
    await family.ended("worker");
    const tried = await called(family, "loopback_rule_test", { decision: "deny", match: "Bash(npm *)" });
    expect(tried).toMatchObject({ decided: 2, contradictions: [{ was: "allowed", would_be: "deny" }, {}] });
    const { suggestions } = await called(family, "loopback_rule_suggest", { session_id: id });
    expect(suggestions).toMatchObject([{ rule: { decision: "allow" }, decided: 2, contradictions: 0 }]);
    const [{ rule }] = suggestions as [{ rule: object }];
    const added = await add(family, { ...rule, session_id: id });
    const call = { tool_name: "Bash", input: { command: "npm test" }, session_id: id };
    expect(await called(family, "loopback_rule_test", call)).toMatchObject({
      would_be: "allow",
      by: `rule:${added.id}`,
    });
  });
});
