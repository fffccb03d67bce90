import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Approval, McpConfig } from "../../src/contract/approvals/approval.ts";
import { withClaude } from "../support/claude.ts";
import { untilIdle } from "../support/idle.ts";
import { connectClient } from "../support/mcp-client.ts";
import { OPERATOR_TOKEN as token } from "../support/plexus.ts";
import { readResults, type ScriptedModel, script, startScriptedModel } from "../support/scripted-model.ts";
import { type ServerProcess, startServerProcess } from "../support/server-process.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

let model: ScriptedModel;
beforeAll(() => {
  model = startScriptedModel();
});
afterAll(() => model[Symbol.asyncDispose]());

describe("a permit of the real CLI, when the server is killed with kill -9", () => {
  test("waits through five kills, and gets the decision of the sixth server", () =>
    interrupted(async ({ run, restart, decide, resumed }) => {
      for (let kills = 0; kills < 5; kills++) {
        await restart();
        await resumed();
      }
      await decide({ approve: true });
      expect((await run.result()).exitCode).toBe(0);
      expect(existsSync(join(run.cwd, "made"))).toBe(true);
    }));

  test("gets a decision that was made while it was not connected", () =>
    interrupted(async ({ run, restart, decide }) => {
      await restart();
      expect(await decide({ approve: false, message: "decided in between" })).toMatchObject({ status: "denied" });
      const results = readResults((await run.result()).text);
      expect(results).toMatchObject([{ content: "decided in between" }]);
    }));

  test("fails closed when the server stays away for longer than the child retries", () =>
    interrupted(async ({ run, kill, restart, events }) => {
      await kill();
      const outcome = await run.result(60_000);
      expect(existsSync(join(run.cwd, "made"))).toBe(false);
      expect(outcome.text).not.toContain("allow");
      await restart();
      const last = await until(
        "the ask to be abandoned",
        async () => {
          const seen = await events();
          return seen.find((event) => event.includes("approval_resolved"));
        },
        40_000,
      );
      expect(last).toContain('"status":"abandoned"');
    }));
});

type Interrupted = {
  run: { cwd: string; result(timeoutMs?: number): Promise<{ exitCode: number | null; text: string }> };
  kill(): Promise<void>;
  /** Kills the server, if it runs, and starts another one on the same data dir and port. */
  restart(): Promise<void>;
  /** Waits until the child has come back to the server that runs now. */
  resumed(): Promise<void>;
  decide(decision: object): Promise<object>;
  /** Everything that the server has told its watchers. */
  events(): Promise<string[]>;
};

/** A child that waits for permission to `touch made`, and a server that can be killed under it. */
async function interrupted(body: (scene: Interrupted) => Promise<void>): Promise<void> {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, "data");
  await Bun.write(join(dataDir, "keep"), "");
  let server: ServerProcess | undefined = await startServerProcess({ dataDir, token, args: ["--log-level", "debug"] });
  const port = Number(new URL(server.url).port);
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
          server = await startServerProcess({ dataDir, port, token, args: ["--log-level", "debug"] });
        },
        async resumed() {
          await until("the child to come back", () => server?.log.some((line) => line.includes("ask resumed")), 30_000);
          // A child that is cut off while it still reads what it came back to has nothing to come back by.
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
            // The time is up: what has come is what there was.
          }
          return seen.join("").split("\n\n");
        },
      });
    });
  } finally {
    await server?.kill();
  }
}
