import { expect, setDefaultTimeout, test } from "bun:test";
import { script } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, type Family, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

/** The price of one answer of the scripted model, by the CLI's own price list. */
const ONE = 0.00014;
const STEPS = [1, 2, 3, 4, 5, 6].map((at) => ({ use: [bash(`echo ${at}`)] }));

test("a budget covers the whole session: each turn may spend the rest, and then none starts", async () => {
  await using family = await startFamily();
  await family.create("thrifty", { max_budget_usd: 3.5 * ONE });
  expect((await family.run("thrifty", [{ say: "cheap" }])).status).toBe("complete");

  const { status, last, events } = await family.run("thrifty", [...STEPS, { say: "done" }]);
  const told = (await family.parent.call("loopback_wait")).value;
  expect(told).toMatchObject({ finished: [{ status: "complete" }, { status: "failed" }] });
  expect(told["next"]).toContain("raise max_budget_usd with claudecode_update");
  expect({ status, last }).toMatchObject({
    status: "failed",
    last: { message: expect.stringMatching(/budget of the session is used up \(max_budget_usd\).*\n?.*Raise/) },
  });
  // With the whole budget it could have made one more.
  expect(eventsOf(events, "tool_use")).toHaveLength(3);
  expect(await costOf(family, "thrifty")).toBeCloseTo(4 * ONE, 10);

  const refusal = await family.refused("claudecode_chat_async", { name: "thrifty", prompt: script([{ say: "more" }]) });
  expect(refusal).toMatchObject({ code: "limit_reached", message: expect.stringContaining("claudecode_update") });
  expect((await family.call("claudecode_streams", {})).streams).toHaveLength(2);
});

test("a fork has the budget of its parent, and has spent nothing of it", async () => {
  await using family = await startFamily();
  await family.create("trunk", { max_budget_usd: 0.9 * ONE });
  await family.run("trunk", [{ say: "all that there was" }]);
  await family.call("claudecode_fork", { name: "trunk", new_name: "branch" });
  expect((await family.run("branch", [{ say: "on its own account" }])).status).toBe("failed");
  expect(await costOf(family, "branch")).toBeCloseTo(ONE, 10);
});

async function costOf({ call }: Family, name: string): Promise<number> {
  return (await call("claudecode_get", { name })).config.total_cost_usd;
}
