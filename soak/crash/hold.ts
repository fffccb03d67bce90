import { existsSync } from "node:fs";
import { join } from "node:path";
import { Approval, McpConfig } from "../../src/contract/approvals/approval.ts";
import { type ClaudeRun, withClaude } from "../../tests/support/claude/claude.ts";
import { connectClient } from "../../tests/support/mcp/mcp-client.ts";
import { script, startScriptedModel } from "../../tests/support/model/scripted-model.ts";
import { startServerProcess } from "../../tests/support/server/server-process.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { until } from "../../tests/support/until.ts";

const TOKEN = "operator-token-of-the-held-permit";
const ONE_DAY_SECS = "86400";
const MADE = "made";

export type HoldOptions = { holdMs: number; program?: string[] | undefined; stopped?: AbortSignal | undefined };
export type HoldReport = { heldMs: number; violations: string[] };

/**
 * Lets the real CLI wait for one permit for `holdMs`, then allows it: the call must not run before, and must run after.
 */
export async function holdPermit({ holdMs, program, stopped }: HoldOptions): Promise<HoldReport> {
  await using directory = await temporaryDirectory();
  await using model = startScriptedModel();
  await using server = await startServerProcess({
    dataDir: directory.path,
    token: TOKEN,
    args: ["--approval-timeout-secs", ONE_DAY_SECS],
    ...(program && { program }),
  });
  await using parent = await connectClient(server.url, TOKEN);
  const mcpConfig = McpConfig.parse((await parent.call("loopback_configure")).value["mcp_config"]);
  const prompt = script([{ use: [{ name: "Bash", input: { command: `touch ${MADE}`, description: "test" } }] }]);
  const violations: string[] = [];
  const expect = (holds: boolean, otherwise: string) => void (holds || violations.push(otherwise));

  return await withClaude({ model, prompt, mcpConfig }, async (run) => {
    const asked = await until("the ask", async () => {
      const { approvals } = (await parent.call("loopback_pending")).value;
      return Approval.array().parse(approvals)[0];
    });
    const askedAt = performance.now();
    await untilHeld(run, holdMs, stopped);
    expect(!existsSync(join(run.cwd, MADE)), "the tool ran before it was allowed");
    const heldMs = performance.now() - askedAt;
    const { value } = await parent.call("loopback_respond", { approval_id: asked.id, approve: true });
    expect(value["type"] === "ok", `the decision was answered ${JSON.stringify(value)}`);
    const outcome = await run.result();
    expect(outcome.exitCode === 0, `the CLI ended with ${outcome.exitCode}: ${outcome.text}`);
    expect(existsSync(join(run.cwd, MADE)), `the tool did not run: ${outcome.text}`);
    return { heldMs, violations };
  });
}

/** Waits for the whole time, which is what is tested; stops early if the CLI gives up. */
async function untilHeld(run: ClaudeRun, holdMs: number, stopped?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, holdMs);
  stopped?.addEventListener("abort", () => reject(new Error("stopped before the time was up")));
  run
    .result(holdMs + 60_000)
    .then((outcome) => reject(new Error(`the CLI gave up its permit: ${JSON.stringify(outcome)}`)), reject);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}
