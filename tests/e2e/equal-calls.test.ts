import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../src/contract/approvals/approval.ts";
import { script, type Turn } from "../support/model/scripted-model.ts";
import { type MortalFamily, startMortalFamily } from "../support/server/outage.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

const PAY: Turn = { use: [{ name: "Bash", input: { command: "echo paid >> paid.txt" }, id: "call_0" }] };

/** Two parallel subagents to which the model gives the same call with the same id. Both wait for one approval. */
async function twoEqualCalls(family: MortalFamily, supervision: "strict" | "default") {
  const id = await family.create("twins", { supervision, allowed_tools: ["Agent"] });
  const agents = ["one", "two"].map((name) => ({
    name: "Agent",
    input: { description: name, prompt: `${name} ${script([PAY, { say: "paid" }])}`, subagent_type: "general-purpose" },
    id: `call_${name}`,
  }));
  await family.chat("twins", [{ use: agents }, { say: "end" }]);
  const orders = () => family.model.requests.filter(({ turn }) => JSON.stringify(turn) === JSON.stringify(PAY));
  // In strict, starting a subagent needs approval too.
  const pending = async () =>
    Approval.array().parse((await family.parent.call("loopback_pending", {})).value["approvals"]);
  const begun = async () => {
    for (const asked of await pending()) if (asked.tool_name === "Agent") await family.allow(asked);
    return orders().length === 2;
  };
  await until("both subagents to have their call", begun, 60_000);
  return family.heldAsk(id);
}

/** The result: how often the payment ran, and the result of each of the two calls. */
async function outcome(family: MortalFamily) {
  const { status, events } = await family.ended("twins");
  const results = events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
  const equal = results.filter(({ tool_use_id }) => tool_use_id === "call_0");
  const paid = readFileSync(join(family.place, "paid.txt"), "utf8");
  return { status, paid, equal: equal.map(({ is_error, approval_id }) => ({ is_error, approval_id })), results };
}

test.each(["strict", "default"] as const)("in %s, one allow runs one of two equal calls", async (supervision) => {
  await using family = await startMortalFamily();
  const approval = await twoEqualCalls(family, supervision);
  await family.allow(approval);
  const { status, paid, equal, results } = await outcome(family);
  expect({ status, paid }).toEqual({ status: "complete", paid: "paid\n" });
  expect(equal.toSorted((a, b) => Number(a.is_error) - Number(b.is_error))).toEqual([
    { is_error: false, approval_id: approval.id },
    { is_error: true, approval_id: null },
  ]);
  expect(results.filter((result) => result.unasked)).toEqual([]);
});

test("one allow runs one of two equal calls whose server was killed while they waited", async () => {
  await using family = await startMortalFamily();
  const approval = await twoEqualCalls(family, "strict");
  await family.crash();
  await family.allow(await family.heldAsk(approval.session_id));
  const { status, paid, equal } = await outcome(family);
  expect({ status, paid }).toEqual({ status: "complete", paid: "paid\n" });
  expect(equal.filter(({ is_error }) => !is_error)).toEqual([{ is_error: false, approval_id: approval.id }]);
});
