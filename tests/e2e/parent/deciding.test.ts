import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { script } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, type Family, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

/** Waits for this many requests of a session, with everything that an agent sees of them. */
async function pending(family: Family, session_id: string, count: number): Promise<Approval[]> {
  return until(`${count} requests`, async () => {
    const { value } = await family.parent.call("loopback_pending", { session_id });
    const approvals = Approval.array().parse(value["approvals"]);
    return approvals.length >= count && approvals;
  });
}

describe("what an agent sees of a request of a real child", () => {
  test("includes its directory, its words before, and the dangers", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    await family.start("worker", [{ say: "I clean up first.", use: [bash("rm -rf build")] }]);
    const [approval] = await pending(family, id, 1);
    expect(approval).toMatchObject({
      cwd: family.place,
      said: "I clean up first.",
      dangers: [{ code: "delete", text: expect.any(String) }],
      expires_in_secs: expect.any(Number),
    });
    expect(approval).not.toHaveProperty("agent");
    await family.respond(await family.ask(id), { approve: false, message: "no" });
    await family.ended("worker");
  });

  test("includes the subagent that made it, and that subagent's words", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    const task = (description: string, say: string, file: string) => ({
      name: "Agent",
      input: {
        description,
        subagent_type: "general-purpose",
        run_in_background: true,
        prompt: script([{ say, use: [bash(`touch ${file}`)] }], description),
      },
    });
    const use = [task("make one", "One comes.", "one"), task("make two", "Two comes.", "two")];
    await family.start("worker", [{ say: "I delegate.", use }]);
    const approvals = await pending(family, id, 2);
    const seen = approvals.map(({ input, said, agent }) => [input["command"], said, agent]).sort();
    expect(seen).toEqual([
      ["touch one", "One comes.", "general-purpose (make one)"],
      ["touch two", "Two comes.", "general-purpose (make two)"],
    ]);
    await family.call("claudecode_cancel", { name: "worker" });
  });

  test("includes the whole plan with which it wants to leave plan mode", async () => {
    await using family = await startFamily();
    const id = await family.create("planner");
    const plan = `# The plan\n\n${"1. step\n".repeat(20)}`;
    const enter = { name: "EnterPlanMode", input: {} };
    await family.start("planner", [{ use: [enter] }, { use: [{ name: "ExitPlanMode", input: { plan } }] }]);
    await family.respond(await family.ask(id), { approve: true });
    const [approval] = await pending(family, id, 1);
    expect(approval).toMatchObject({ tool_name: "ExitPlanMode", plan });
    const part = { approval_id: approval?.id, offset: 0, length: 30_000 };
    const { value } = await family.parent.call("loopback_get", part);
    expect(JSON.parse(String(value["text"]))).toMatchObject({ plan });
    const found = await family.parent.call("loopback_get", { approval_id: approval?.id, search: "# The plan" });
    expect(found.value["matches"]).toHaveLength(1);
    await family.call("claudecode_cancel", { name: "planner" });
  });
});

describe("a decision on a request of a real child", () => {
  test("answers its questions by their labels", async () => {
    await using family = await startFamily();
    const id = await family.create("asking");
    const options = ["Left", "Right, please", "Up"].map((label) => ({ label, description: label }));
    const questions = [
      { question: "Which way?", header: "Way", multiSelect: false, options },
      { question: "Which ones?", header: "Ones", multiSelect: true, options },
    ];
    await family.start("asking", [{ use: [{ name: "AskUserQuestion", input: { questions } }] }]);
    const answers = { "Which way?": "Right, please", "Which ones?": ["Up", "Left"] };
    await family.respond(await family.ask(id), { approve: true, answers });
    const { status, events } = await family.ended("asking");
    expect(status).toBe("complete");
    const [result] = eventsOf(events, "tool_result");
    expect(result?.output).toContain('"Which way?"="Right, please", "Which ones?"="Up, Left"');
    expect(eventsOf(events, "approval_resolved")).toMatchObject([
      { status: "allowed", updated_input: { answers: { "Which way?": "Right, please", "Which ones?": "Up, Left" } } },
    ]);
  });

  test("runs an input with a part changed or removed", async () => {
    await using family = await startFamily();
    const id = await family.create("worker");
    await family.start("worker", [{ use: [bash("touch wrong")] }]);
    const updated_input = { command: "touch right", description: null };
    await family.respond(await family.ask(id), { approve: true, updated_input, merge: true });
    const { status, events } = await family.ended("worker");
    expect(status).toBe("complete");
    expect([existsSync(join(family.place, "right")), existsSync(join(family.place, "wrong"))]).toEqual([true, false]);
    const [resolved] = eventsOf(events, "approval_resolved");
    expect(resolved?.updated_input).toEqual({ command: "touch right" });
  });

  test("in a batch reaches its child", async () => {
    await using family = await startFamily();
    const names = ["one", "two", "three"];
    const ids = await Promise.all(names.map((name) => family.create(name)));
    await Promise.all(names.map((name) => family.start(name, [{ use: [bash(`touch ${name}`)] }])));
    const asked = await Promise.all(ids.map((id) => family.ask(id)));
    const decisions = asked.map(({ id }, at) => ({ approval_id: id, approve: at !== 1, message: "because" }));
    const { value } = await family.parent.call("loopback_respond", { decisions });
    expect(value["results"]).toMatchObject(decisions.map(({ approval_id }) => ({ type: "ok", approval_id })));
    for (const name of names) expect((await family.ended(name)).status).toBe("complete");
    expect(names.map((name) => existsSync(join(family.place, name)))).toEqual([true, false, true]);
  });
});
