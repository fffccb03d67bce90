import { existsSync } from "node:fs";
import { join } from "node:path";
import { Approval, McpConfig } from "../../src/contract/approvals/approval.ts";
import { withClaude } from "../../tests/support/claude/claude.ts";
import { connectClient } from "../../tests/support/mcp/mcp-client.ts";
import { script, startScriptedModel } from "../../tests/support/model/scripted-model.ts";
import { untilIdle } from "../../tests/support/processes/idle.ts";
import { freePort } from "../../tests/support/server/free-port.ts";
import { OPERATOR_TOKEN as token } from "../../tests/support/server/plexus.ts";
import { type ServerProcess, startServerProcess } from "../../tests/support/server/server-process.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { until } from "../../tests/support/until.ts";

export type KillsOptions = { kills: number; program?: string[] | undefined; stopped?: AbortSignal | undefined };
export type KillsReport = { kills: number; violations: string[] };

/** Kills the server repeatedly while the real CLI waits for one permit over HTTP, then allows it. */
export async function killUnderPermit({ kills, program, stopped }: KillsOptions): Promise<KillsReport> {
  const violations: string[] = [];
  const expect = (holds: boolean, otherwise: string) => void (holds || violations.push(otherwise));
  let killed = 0;
  await interrupted(async ({ run, restart, decide, resumed }) => {
    for (; killed < kills && !stopped?.aborted; killed++) {
      await restart();
      await resumed();
    }
    expect(!existsSync(join(run.cwd, "made")), "the tool ran before it was allowed");
    await decide({ approve: true });
    const { exitCode, text } = await run.result();
    expect(exitCode === 0, `the CLI ended with ${exitCode}: ${text}`);
    expect(existsSync(join(run.cwd, "made")), `the tool did not run: ${text}`);
  }, program);
  return { kills: killed, violations };
}

type Interrupted = {
  run: { cwd: string; result(timeoutMs?: number): Promise<{ exitCode: number | null; text: string }> };
  kill(): Promise<void>;
  /** Kills the server, if it runs, and starts another one on the same data dir and port. */
  restart(): Promise<void>;
  /** Waits until the child has reconnected to the running server. */
  resumed(): Promise<void>;
  decide(decision: object): Promise<object>;
  /** Returns every event that the server has sent to watchers. */
  events(): Promise<string[]>;
};

/** Runs a child that waits for permission to `touch made`, and a server that can be killed meanwhile. */
export async function interrupted(body: (setup: Interrupted) => Promise<void>, program?: string[]): Promise<void> {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, "data");
  await Bun.write(join(dataDir, "keep"), "");
  await using model = startScriptedModel();
  const options = { dataDir, port: freePort(), token, args: ["--log-level", "debug"], ...(program && { program }) };
  let server: ServerProcess | undefined = await startServerProcess(options);
  const url = server.url;
  const call = async (tool: string, args: object) => {
    await using client = await connectClient(url, token);
    return (await client.call(tool, args)).value;
  };
  try {
    const mcpConfig = McpConfig.parse((await call("loopback_configure", {}))["mcp_config"]);
    const prompt = script([{ use: [{ name: "Bash", input: { command: "touch made", description: "test" } }] }]);
    await withClaude({ model, prompt, mcpConfig }, async (run) => {
      const approval = await until("the ask", async () => {
        const { approvals } = await call("loopback_pending", {});
        return Approval.array().parse(approvals)[0];
      });
      await body({
        run,
        async kill() {
          await server?.kill();
          server = undefined;
        },
        async restart() {
          await server?.kill();
          server = await startServerProcess(options);
        },
        async resumed() {
          await until(
            "the child to come back",
            () => server?.log.some((line) => line.includes("request resumed")),
            30_000,
          );
          // A child that is disconnected while it still reads the first event has no id to resume from.
          await untilIdle(run.pid);
        },
        decide: (decision) => call("loopback_respond", { approval_id: approval.id, ...decision }),
        async events() {
          const response = await fetch(`${url}/api/v1/events`, {
            headers: { authorization: `Bearer ${token}`, "last-event-id": "0" },
            signal: AbortSignal.timeout(500),
          });
          const seen: string[] = [];
          const decoder = new TextDecoder();
          try {
            for await (const chunk of response.body ?? []) seen.push(decoder.decode(chunk));
          } catch {
            // The time is up: the events so far are all there are.
          }
          return seen.join("").split("\n\n");
        },
      });
    });
  } finally {
    await server?.kill();
  }
}
