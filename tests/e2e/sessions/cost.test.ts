import { expect, setDefaultTimeout, test } from "bun:test";
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
  // The CLI copies the conversation, and its cost, only when the fork's first turn begins.
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

test("a session's cost has that of its ephemeral turns, and that of one that was cancelled", async () => {
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

async function costOfTurn(family: Family, name: string, asked: object = {}): Promise<number> {
  const { status, events } = await family.run(name, [{ say: "done" }], asked);
  expect(status).toBe("complete");
  return eventsOf(events, "complete")[0]?.usage.cost_usd ?? -1;
}

async function costs({ plexus }: Family): Promise<Record<string, number>> {
  const { sessions } = await plexus.app.sessionViews.list({ kind: "operator" }, { limit: 10 });
  return Object.fromEntries(sessions.map(({ name, cost_usd }) => [name, cost_usd]));
}
