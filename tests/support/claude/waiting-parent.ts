import { type JsonObject, JsonObject as JsonObjectSchema } from "../../../src/contract/values.ts";
import { toolResultsIn } from "../model/conversation.ts";
import { type ModelRequest, script, type ToolResult } from "../model/scripted-model.ts";
import { untilIdle } from "../processes/idle.ts";
import type { MortalFamily } from "../server/outage.ts";
import { OPERATOR_TOKEN } from "../server/plexus.ts";
import { until } from "../until.ts";
import { type ClaudeRun, withClaude } from "./claude.ts";

type Call = { tool: string; input: JsonObject };

/** The result of the parent's call as its model got it, and how long after `since` it came. */
export type Told = { result: ToolResult; value: JsonObject; afterMs: number };

export type WaitingParent = {
  run: ClaudeRun;
  /** Resolves when the result of the first call has reached the model. */
  told(since: number, timeoutMs?: number): Promise<Told>;
  /** The result of the second call, with which the parent continues. */
  wentOn(): Promise<ToolResult>;
  /** Resolves when the parent has read everything sent so far: cut off earlier, it has no id to come back by. */
  settled(): Promise<void>;
};

/** The real CLI as the parent. Its model calls one tool, which waits, and lists pending requests after the answer. */
export async function withWaitingParent(
  family: Pick<MortalFamily, "url" | "model">,
  { tool, input }: Call,
  body: (parent: WaitingParent) => Promise<void>,
): Promise<void> {
  const plexus = {
    type: "http",
    url: `${family.url}/mcp`,
    headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
    alwaysLoad: true,
  };
  const use = (name: string, given: JsonObject, id: string) => ({
    use: [{ name: `mcp__plexus__${name}`, input: given, id }],
  });
  const prompt = script([use(tool, input, "toolu_waits"), use("loopback_pending", {}, "toolu_goes_on")]);
  const args = ["--allowedTools", "mcp__plexus"];
  const resultOf = (id: string) =>
    family.model.requests.flatMap(resultsIn).find(({ tool_use_id }) => tool_use_id === id);
  const options = { model: family.model, prompt, mcpConfig: { mcpServers: { plexus } }, permissionTool: null, args };
  await withClaude(options, async (run) => {
    await until("the call", () =>
      family.model.requests.some(({ turn }) => JSON.stringify(turn).includes("toolu_waits")),
    );
    await untilIdle(run.pid);
    await body({
      run,
      async told(since, timeoutMs) {
        const result = await until("the result of the call", () => resultOf("toolu_waits"), timeoutMs);
        const afterMs = performance.now() - since;
        return { result, value: JsonObjectSchema.parse(JSON.parse(result.content)), afterMs };
      },
      wentOn: () => until("the next result", () => resultOf("toolu_goes_on"), 60_000),
      settled: () => untilIdle(run.pid),
    });
    await run.result();
  });
}

function resultsIn({ conversation }: ModelRequest): ToolResult[] {
  return conversation.messages.flatMap(toolResultsIn);
}
