import { expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/contract/values.ts";
import { script, type Turn } from "../../support/model/scripted-model.ts";
import { bash, type Family, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(180_000);

const WAIT_SECS = 60;
const LAST = "All of it is done.";

/** A parent that counts its calls and the tokens of their answers. */
function counting({ parent }: Family) {
  const count = { calls: 0, tokens: 0 };
  const call = async (tool: string, args: object): Promise<JsonObject> => {
    const { text, value, isError } = await parent.call(tool, args);
    if (isError) throw new Error(text);
    count.calls++;
    count.tokens += text.length / 4;
    return value;
  };
  return { count, call };
}

type Told = { approvals: { id: string; suggested_rule?: string }[]; finished: JsonObject[] };

/** The requests and ended turns in the answer of any call. */
function toldIn(answer: JsonObject): Told {
  const wait = Object(answer["wait"] ?? answer);
  return { approvals: wait.approvals ?? wait.pending_approvals ?? [], finished: wait.finished ?? [] };
}

test("one child with five requests costs its parent at most 7 calls and 800 tokens, including suggested rules", async () => {
  await using family = await startFamily();
  const { count, call } = counting(family);
  const turns: Turn[] = [1, 2, 3, 4, 5].map((number) => ({ use: [bash(`touch file-${number}`)] }));
  const prompt = script([...turns, { say: LAST }]);
  const work = { name: "worker", working_dir: family.place, prompt, wait_secs: WAIT_SECS };
  let told = toldIn(await call("claudecode_run", work));
  while (told.finished.length === 0) {
    const [approval] = told.approvals;
    if (!approval) throw new Error("neither a request nor an end");
    expect(approval.suggested_rule).toBe("Bash(touch *)");
    told = toldIn(await call("loopback_respond", { approval_id: approval.id, approve: true, wait_secs: WAIT_SECS }));
  }
  expect(told.finished).toMatchObject([{ name: "worker", status: "complete", text: LAST, asks: { allowed: 5 } }]);
  expect(count.calls).toBeLessThanOrEqual(7);
  expect(count.tokens).toBeLessThanOrEqual(800);
});

test("60 requests that are decided in batches cost at most 8 calls and 4,000 tokens", async () => {
  await using family = await startFamily();
  const { count, call } = counting(family);
  const reads = Array.from({ length: 60 }, (_, number) => ({
    name: "Read",
    input: { file_path: `/etc/host${number}` },
  }));
  const prompt = script([{ use: reads }, { say: LAST }]);
  const work = { name: "worker", working_dir: family.place, prompt, wait_secs: WAIT_SECS };
  let told = toldIn(await call("claudecode_run", work));
  while (told.finished.length === 0) {
    const decisions = told.approvals.map(({ id }) => ({ approval_id: id, approve: true }));
    told = toldIn(await call("loopback_respond", { decisions, wait_secs: WAIT_SECS }));
  }
  expect(told.finished).toMatchObject([{ status: "complete", text: LAST, asks: { allowed: 60 } }]);
  expect(count.calls).toBeLessThanOrEqual(8);
  expect(count.tokens).toBeLessThanOrEqual(4_000);
});
