import { existsSync } from "node:fs";
import { join } from "node:path";
import { carrierServer } from "../../src/contract/sessions/carrier.ts";
import { type ClaudeRun, withClaude } from "../../tests/support/claude/claude.ts";
import { script, startScriptedModel } from "../../tests/support/model/scripted-model.ts";
import { type KillableServer, startKillableServer } from "../../tests/support/server/killable-server.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const ONE_DAY_SECS = "86400";
const MADE = "made";

export type OutageOptions = {
  outageMs: number;
  /** For how long the ask stays undecided when the server is back: a child that did not come back is then given up. */
  decideAfterMs?: number;
  program?: string[] | undefined;
  stopped?: AbortSignal | undefined;
};
export type OutageReport = { outageMs: number; violations: string[] };

/** Kills the server under a permit that the real CLI waits for over stdio, stays away for `outageMs`, and allows it then. */
export async function sitOut({ outageMs, decideAfterMs = 0, program, stopped }: OutageOptions): Promise<OutageReport> {
  const violations: string[] = [];
  const expect = (holds: boolean, otherwise: string) => void (holds || violations.push(otherwise));
  await waitingOverStdio(async ({ server, run, madeFile }) => {
    const asked = await server.ask();
    await server.kill();
    await apart(outageMs, run, stopped);
    expect(!existsSync(madeFile), "the tool ran while there was no server");
    await server.restart();
    await apart(decideAfterMs, run, stopped);
    const { type } = await server.call("loopback_respond", { approval_id: asked.id, approve: true });
    expect(type === "ok", `the decision was answered ${type}`);
    const outcome = await run.result();
    expect(outcome.exitCode === 0, `the CLI ended with ${outcome.exitCode}: ${outcome.text}`);
    expect(existsSync(madeFile), `the tool did not run: ${outcome.text}`);
    const asks = await server.approvals();
    expect(asks.length === 1, `there were ${asks.length} asks`);
  }, program);
  return { outageMs, violations };
}

export type WaitingChild = {
  server: KillableServer;
  run: ClaudeRun;
  /** What the child makes once it is allowed to. */
  madeFile: string;
};

/** The real CLI, started by hand with the stdio carrier, which asks to make a file. */
export async function waitingOverStdio(
  body: (child: WaitingChild) => Promise<void>,
  program: string[] = [process.execPath, MAIN],
): Promise<void> {
  await using model = startScriptedModel();
  await using server = await startKillableServer({ args: ["--approval-timeout-secs", ONE_DAY_SECS], program });
  const { token } = await server.child();
  const mcpConfig = { mcpServers: { plexus: carrierServer("stdio", { url: server.url, program }, token) } };
  const prompt = script([{ use: [{ name: "Bash", input: { command: `touch ${MADE}`, description: "test" } }] }]);
  await withClaude({ model, prompt, mcpConfig }, (run) => body({ server, run, madeFile: join(run.cwd, MADE) }));
}

/** The time itself is what is tested here; it is cut short when the CLI gives up. */
async function apart(ms: number, run: ClaudeRun, stopped?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  stopped?.addEventListener("abort", () => reject(new Error("stopped before the time was up")));
  run
    .result(ms + 60_000)
    .then((outcome) => reject(new Error(`the CLI gave up its permit: ${JSON.stringify(outcome)}`)), reject);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}
