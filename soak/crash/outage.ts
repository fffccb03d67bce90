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
  /**
   * How long the request stays undecided after the restart; if the child does not come back by then, the request is
   * abandoned.
   */
  decideAfterMs?: number;
  program?: string[] | undefined;
  stopped?: AbortSignal | undefined;
};
export type OutageReport = { outageMs: number; violations: string[] };

/**
 * Kills the server while the real CLI waits for a permit over stdio, restarts it after `outageMs`, and allows the
 * request.
 */
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
  /** The file that the child creates when it is allowed to. */
  madeFile: string;
};

/** Runs the real CLI, started by hand with the stdio carrier, which asks to create a file. */
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

/** Waits for the whole time, which is what is tested; stops early if the CLI gives up. */
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
