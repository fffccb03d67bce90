import { expect, test } from "bun:test";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { asking, BASH, type RuledPlexus, rulingOn, startRuled } from "./ruled.ts";

/** Requests with edits that must not run. */
async function refusedEdits(
  plexus: RuledPlexus,
): Promise<[tool: string, asked: JsonObject, edited: JsonObject, why: string][]> {
  const token = join(plexus.dataDir, "operator-token");
  const file_path = join(plexus.place, "a.txt");
  // Otherwise a built-in rule would allow it immediately.
  await plexus.add({ decision: "ask", match: "Agent" });
  const agent = { prompt: "work", description: "work", subagent_type: "general-purpose" };
  return [
    ["Bash", { command: "touch a" }, { command: "rm -rf b" }, "hands off"],
    ["Bash", { command: "touch a" }, { command: "echo ok; sh -c 'rm b'" }, "hands off"],
    ["Bash", { command: "touch a" }, { command: `cp ${token} .` }, "holds tokens"],
    ["Write", { file_path, content: "" }, { file_path: token, content: "" }, "holds tokens"],
    ["Bash", { command: "touch a" }, { command: `echo mine > ${token}` }, "holds tokens"],
    ["Agent", agent, { ...agent, isolation: "worktree" }, "another directory"],
  ];
}

test("an edited input that may not run is refused over MCP, and nothing is decided", async () => {
  await using plexus = await startRuled();
  await plexus.add({ decision: "deny", match: "Bash(rm *)", reason: "hands off" });
  const session = await plexus.session();
  const operator = await plexus.connect();
  for (const [tool, asked, updated_input, why] of await refusedEdits(plexus)) {
    using waiting = await asking(plexus, session, [tool, asked]);
    const decision = { approval_id: waiting.approvalId, approve: true, updated_input };
    const one = await operator.call("loopback_respond", decision);
    expect([updated_input, one.isError, one.value]).toEqual([
      updated_input,
      true,
      expect.objectContaining({ code: "forbidden", message: expect.stringContaining(why) }),
    ]);
    const many = await operator.call("loopback_respond", { decisions: [decision] });
    expect(many.value["results"]).toMatchObject([{ type: "error", code: "forbidden" }]);
    expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
  }
});

test("an edited input that may not run is refused over REST, and nothing is decided", async () => {
  await using plexus = await startRuled();
  await plexus.add({ decision: "deny", match: "Bash(rm *)", reason: "hands off" });
  const session = await plexus.session();
  for (const [tool, asked, updated_input] of await refusedEdits(plexus)) {
    using waiting = await asking(plexus, session, [tool, asked]);
    const body = JSON.stringify({ approve: true, updated_input });
    const path = `/api/v1/approvals/${waiting.approvalId}/respond`;
    const response = await plexus.fetch(path, { method: "POST", body });
    expect([updated_input, response.status]).toEqual([updated_input, 403]);
    await response.body?.cancel();
    expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
  }
});

test("an edited input runs if no rule denies it, even if a rule would ask", async () => {
  await using plexus = await startRuled();
  await plexus.add({ decision: "ask", match: "Bash(mkdir *)" });
  using waiting = await asking(plexus, await plexus.session(), BASH("touch a"));
  const updated_input = { command: "mkdir a" };
  await plexus.app.approvals.decide({ kind: "operator" }, waiting.approvalId, { approve: true, updated_input });
  expect(await waiting.answer()).toEqual({ behavior: "allow", updatedInput: updated_input });
});
