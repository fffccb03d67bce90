import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

/** An estimate of the tokens that a model is billed for. */
const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);

/** The approvals that an agent sees for calls that a child makes at once, in a typical project. */
async function seen(
  calls: { tool_name: string; input: JsonObject }[],
  rules: { decision: "allow"; match: string }[] = [],
): Promise<JsonObject[]> {
  await using directory = await temporaryDirectory();
  const working_dir = join(directory.path, "code/my-project");
  mkdirSync(working_dir, { recursive: true });
  await using plexus = await startPlexus();
  const parent = await plexus.connect();
  const { value } = await parent.call("claudecode_create", { name: "feature-worker", working_dir, rules });
  const session = await plexus.app.sessions.get(String(value["id"]));
  if (!session) throw new Error("the session was not made");
  for (const [at, call] of calls.entries()) {
    const tool_use_id = `toolu_01${`${at}`.padStart(22, "A")}`;
    await plexus.app.approvals.request(session, { ...call, tool_use_id });
  }
  const listed = await parent.call("loopback_pending");
  return listed.value["approvals"] as JsonObject[];
}

const bash = (command: string, description = "Run the unit tests") => ({
  tool_name: "Bash",
  input: { command, description },
});

describe("an approval with its context takes at most 170 tokens, without the child's words", () => {
  test.each([
    ["an ordinary command", bash("npm test -- --run src/parser 2>&1 | tail -20")],
    ["one with dangers", bash("rm -rf node_modules && npm install && git push --force origin feature")],
    ["one that runs as root", bash("sudo systemctl restart nginx", "Restart the web server")],
  ])("%s", async (_, call) => {
    const [approval] = await seen([call]);
    expect(approval).toHaveProperty("cwd");
    expect(tokens(approval)).toBeLessThanOrEqual(170);
  });

  test("with the reason why a rule does not allow it", async () => {
    const [approval] = await seen(
      [bash("npm run build -- --mode production > build/out.log")],
      [{ decision: "allow", match: "Bash(npm run *)" }],
    );
    expect(approval).toHaveProperty(
      "why_asked",
      "Bash(npm run *) does not cover it: it writes to build/out.log (redirect)",
    );
    expect(tokens(approval)).toBeLessThanOrEqual(170);
  });

  test("it contains no constant or empty field", async () => {
    const [approval] = await seen([bash("make build > log.txt")]);
    for (const [key, value] of Object.entries(approval ?? {})) {
      expect({ key, value }).not.toEqual({ key, value: null });
      expect({ key, value }).not.toEqual({ key, value: [] });
    }
    expect(tokens(approval)).toBeLessThanOrEqual(120);
  });
});

const write = (file_path: string) => ({ tool_name: "Write", input: { file_path, content: "x" } });

/** The answers to an agent that allows 60 requests as they come, ten at a time, as Claude Code makes them. */
async function sixty(callOf: (number: number) => { tool_name: string; input: JsonObject }) {
  await using directory = await temporaryDirectory();
  await using plexus = await startPlexus();
  const parent = await plexus.connect();
  const { value } = await parent.call("claudecode_create", { name: "worker", working_dir: directory.path });
  const session = await plexus.app.sessions.get(String(value["id"]));
  if (!session) throw new Error("the session was not made");
  const ask = async (from: number) => {
    for (let number = from; number < from + 10; number++) await plexus.app.approvals.request(session, callOf(number));
  };
  await ask(0);
  const answers: JsonObject[] = [(await parent.call("loopback_wait", {})).value];
  const told: JsonObject[] = [];
  for (let asked = 10; asked <= 60; asked += 10) {
    const last = Object(answers.at(-1));
    const pending: JsonObject[] = (last.wait ?? last).approvals;
    told.push(...pending);
    if (asked < 60) await ask(asked);
    const decisions = pending.map(({ id }) => ({ approval_id: id, approve: true }));
    answers.push((await parent.call("loopback_respond", { decisions, wait_secs: 0 })).value);
  }
  return { told, cost: answers.reduce((sum, answer) => sum + tokens(answer), 0) };
}

describe("60 requests that are decided ten at a time, and told with the rule that each suggests, cost", () => {
  const SAME = new Set(["Bash(touch *)", undefined]);
  test.each([
    ["4,000 tokens where it is none", 4_000, (at: number) => bash(`rm file-${at}`, "a command"), new Set([undefined])],
    ["4,000 tokens where it is the same", 4_000, (at: number) => bash(`touch file-${at}`, "a command"), SAME],
    ["4,200 tokens where each is another", 4_200, (at: number) => write(`src/${at}/x.ts`), undefined],
  ])("at most %s", async (_, most, callOf, suggested) => {
    const { told, cost } = await sixty(callOf);
    expect(told).toHaveLength(60);
    expect(new Set(told.map(({ suggested_rule }) => suggested_rule))).toEqual(
      suggested ?? new Set(Array.from({ length: 60 }, (_, number) => `Edit(./src/${number}/**)`)),
    );
    expect(cost).toBeLessThanOrEqual(most);
  });
});
