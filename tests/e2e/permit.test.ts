import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../src/schema/approval.ts";
import { withClaude } from "../support/claude.ts";
import { type Plexus, startPlexus } from "../support/plexus.ts";
import { type ScriptedModel, script, startScriptedModel } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

let plexus: Plexus;
let model: ScriptedModel;
beforeAll(async () => {
  plexus = await startPlexus();
  model = startScriptedModel();
});
afterAll(async () => {
  await plexus[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

const bash = (command: string, id?: string) => ({
  name: "Bash",
  input: { command, description: "test" },
  ...(id && { id }),
});

async function pendingOf(sessionId: string, count = 1): Promise<Approval[]> {
  const parent = await plexus.connect();
  return until(`${count} pending`, async () => {
    const { value } = await parent.call("loopback_pending", { session_id: sessionId });
    const approvals = Approval.array().parse(value["approvals"]);
    return approvals.length >= count ? approvals : undefined;
  });
}

describe("a permit of the real CLI", () => {
  test("blocks until it is allowed, and then runs", async () => {
    const child = await plexus.child();
    const prompt = script([{ use: [bash("touch made-by-child")] }]);
    await withClaude({ model, prompt, mcpConfig: child.mcpConfig }, async (run) => {
      const [approval] = await pendingOf(child.sessionId);
      expect(approval?.tool_name).toBe("Bash");
      expect(approval?.input["command"]).toBe("touch made-by-child");
      expect(existsSync(join(run.cwd, "made-by-child"))).toBe(false);
      const parent = await plexus.connect();
      const { value } = await parent.call("loopback_respond", { approval_id: approval?.id, approve: true });
      expect(value).toMatchObject({ type: "ok", status: "allowed" });
      expect((await run.result()).exitCode).toBe(0);
      expect(existsSync(join(run.cwd, "made-by-child"))).toBe(true);
    });
  }, 60_000);
});
