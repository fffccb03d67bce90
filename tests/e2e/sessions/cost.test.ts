import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Finished } from "../../../src/contract/tools/wait-answers.ts";
import { answerOf } from "../../support/mcp/tool-answers.ts";
import { script } from "../../support/model/scripted-model.ts";
import { signal } from "../../support/processes/processes.ts";
import { startMortalFamily } from "../../support/server/outage.ts";
import { bash, eventsOf, type Family, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

test("a fork's cost begins at 0, and its turns cost what they cost, although the CLI counts the whole conversation", async () => {
  await using family = await startFamily();
  await family.create("trunk");
  const one = await costOfTurn(family, "trunk");
  expect(one).toBeGreaterThan(0);
  await family.call("claudecode_fork", { name: "trunk", new_name: "branch" });
  expect(await costs(family)).toEqual({ trunk: one, branch: 0 });
  // The CLI copies the conversation and its cost only when the fork's first turn begins.
  await costOfTurn(family, "trunk");

  expect(await costOfTurn(family, "branch")).toBeCloseTo(one, 10);
  expect(await costOfTurn(family, "branch")).toBeCloseTo(one, 10);
  const { trunk, branch } = await costs(family);
  expect([trunk, branch].map((cost) => Math.round((cost ?? 0) / one))).toEqual([2, 2]);
  const { config } = await family.call("claudecode_get", { name: "branch" });
  expect(config.total_cost_usd).toBe(branch ?? -1);
  const metrics = await (await family.plexus.fetch("/metrics")).text();
  const counted = Number(/^plexus_cost_usd_total (\S+)$/m.exec(metrics)?.[1]);
  expect(counted).toBeCloseTo(4 * one, 10);
});

test("a session's cost includes its ephemeral turns and cancelled ones", async () => {
  await using family = await startFamily();
  await family.create("spender");
  const one = await costOfTurn(family, "spender");
  expect(await costOfTurn(family, "spender", { ephemeral: true })).toBeCloseTo(one, 10);
  expect((await costs(family))["spender"]).toBeCloseTo(2 * one, 10);

  await family.start("spender", [{ use: [bash("echo one")] }, { hang: true }]);
  await until("the turn to hang", () => family.model.requests.some(({ turn }) => "hang" in turn));
  await family.call("claudecode_cancel", { name: "spender" });
  expect((await costs(family))["spender"]).toBeCloseTo(3 * one, 10);
  expect(await costOfTurn(family, "spender")).toBeCloseTo(one, 10);
  expect((await costs(family))["spender"]).toBeCloseTo(4 * one, 10);
});

describe("the reported cost and model turns of a turn", () => {
  test("are those that Claude Code reports when cancelled, or null if it reports none", async () => {
    await using family = await startFamily();
    await family.create("worker");
    await family.run("worker", [{ use: [bash("echo one")] }, { use: [bash("echo two")] }, { say: "done" }]);
    const before = await endOf(family);
    const one = (before.cost_usd ?? 0) / 3;
    expect(before.num_turns).toBe(3);

    await family.start("worker", [{ use: [bash("echo one")] }, { hang: true }]);
    await hanging(family, 1);
    await family.call("claudecode_cancel", { name: "worker" });
    const cancelled = await endOf(family);
    expect(cancelled).toMatchObject({ status: "cancelled", cost_usd: expect.closeTo(one, 10), num_turns: 1 });

    await family.start("worker", [{ say: "too late" }]);
    await family.call("claudecode_cancel", { name: "worker" });
    expect(await endOf(family)).toMatchObject({ status: "cancelled", cost_usd: null, num_turns: null });
  });

  test("are null when its child is killed, even after a report on an earlier turn's leftovers", async () => {
    await using family = await startFamily();
    await family.create("worker");
    const agent = {
      description: "wait",
      subagent_type: "general-purpose",
      run_in_background: true,
      prompt: script([{ hang: true }]),
    };
    await family.start("worker", [{ use: [{ name: "Agent", input: agent }] }, { hang: true }]);
    await hanging(family, 2);
    await family.call("claudecode_cancel", { name: "worker" });
    expect((await endOf(family)).cost_usd).toBeGreaterThan(0);
    await family.start("worker", [{ use: [bash("echo one")] }, { hang: true }]);
    await hanging(family, 3);
    for (const { pid } of family.children()) signal(pid, "SIGKILL");
    const killed = await endOf(family);
    expect(killed).toMatchObject({ status: "failed", cost_usd: null, num_turns: null });
    expect(killed.error).toContain("without an exit code, in the middle of its work");
  });

  test("include the background work of its subagents", async () => {
    await using family = await startFamily();
    await family.create("worker");
    const agent = {
      description: "work",
      subagent_type: "general-purpose",
      run_in_background: true,
      prompt: script([{ say: "I am ready." }]),
    };
    await family.run("worker", [
      { use: [{ name: "Agent", input: agent }] },
      { say: "I wait." },
      { say: "It is ready." },
    ]);
    const { text, num_turns, cost_usd } = await endOf(family);
    expect({ text, num_turns }).toEqual({ text: "It is ready.", num_turns: 3 });
    expect(cost_usd).toBeCloseTo(4 * (await costOfTurn(family, "worker")), 10);
  });

  test("are its own after adoption by another server, not those of the turn before", async () => {
    await using family = await startMortalFamily();
    const id = await family.create("worker");
    await family.chat("worker", [{ use: [bash("echo one")] }, { use: [bash("echo two")] }, { say: "done" }]);
    await family.ended("worker");
    const [before] = (await family.wait()).finished;
    await family.chat("worker", [{ use: [bash("touch file")] }, { say: "done" }]);
    const asked = await family.heldAsk(id);
    await family.crash();
    await family.allow(asked);
    await family.ended("worker");
    const [adopted] = (await family.wait()).finished;
    expect([before?.num_turns, adopted?.num_turns]).toEqual([3, 2]);
    expect(adopted?.cost_usd).toBeCloseTo(((before?.cost_usd ?? 0) * 2) / 3, 10);
  });
});

/** The report to the parent on the last or next ended turn. */
async function endOf({ parent }: Family): Promise<Finished> {
  const waited = answerOf("loopback_wait", (await parent.call("loopback_wait", { timeout_secs: 60 })).value);
  const [finished] = waited.type === "ok" ? waited.finished : [];
  if (!finished) throw new Error("no turn has ended");
  return finished;
}

/** Resolves when this many answers of the model hang. */
async function hanging({ model }: Family, count: number): Promise<void> {
  await until("the model to hang", () => model.requests.filter(({ turn }) => "hang" in turn).length >= count);
}

async function costOfTurn(family: Family, name: string, asked: object = {}): Promise<number> {
  const { status, events } = await family.run(name, [{ say: "done" }], asked);
  expect(status).toBe("complete");
  return eventsOf(events, "complete")[0]?.usage.cost_usd ?? -1;
}

async function costs({ plexus }: Family): Promise<Record<string, number>> {
  const { sessions } = await plexus.app.sessionViews.list({ kind: "operator" }, { limit: 10 });
  return Object.fromEntries(sessions.map(({ name, cost_usd }) => [name, cost_usd]));
}
