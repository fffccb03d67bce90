import type { z } from "zod";
import type { UsableClaude } from "../../claude/cli.ts";
import { startScriptedModel } from "../../claude/scripted/model.ts";
import type { Api } from "../../client/api.ts";
import type { Config } from "../../config.ts";
import { AnyErrorResult } from "../../contract/refusals/errors.ts";
import { ConfigureAnswer } from "../../contract/tools/approval-answers.ts";
import { callTool } from "../../mcp/client.ts";
import { openApi } from "../server/server-client.ts";
import { createChecks, nextCall } from "./checks.ts";
import { startChild } from "./child.ts";
import { type Finding, found, type Step, skipped } from "./finding.ts";

/** Only the fields used here, so that a newer server may send more. */
const Configured = ConfigureAnswer.pick({ session_id: true, mcp_config: true }).strip();

type Need = {
  /** Starts the server if necessary. It ends with the examination, and its data with it. */
  server: () => Promise<Config>;
  claude: UsableClaude;
  directory: string;
  signal: AbortSignal;
};

/** Starts a real child and allows, denies and edits its calls. */
export async function* liveCheck({ server, claude, directory, signal }: Need): AsyncGenerator<Finding> {
  let config: Config;
  let session: z.infer<typeof Configured>;
  try {
    config = await server();
    session = await newSession(await openApi(config));
  } catch (cause) {
    yield await found("ask", () => Promise.reject(cause));
    return;
  }
  await using model = startScriptedModel(nextCall, "plexus doctor");
  const loopback = session.mcp_config.mcpServers.plexus;
  const { environment } = config;
  await using child = startChild({ claude, modelUrl: model.url, directory, loopback, environment });
  const checks = createChecks({
    api: await openApi(config, signal),
    sessionId: session.session_id,
    child,
    model,
    claude: claude.path,
    signal,
  });
  yield* inOrder(checks);
}

/** Runs the checks in order. After a failure the rest is skipped, because each check builds on the one before it. */
async function* inOrder(checks: ReturnType<typeof createChecks>): AsyncGenerator<Finding> {
  let failed: Step | undefined;
  for (const [step, check] of checks) {
    const finding: Finding = failed ? skipped(step, `not tried after ${failed}`) : await found(step, check);
    if (finding.state === "failed") failed = step;
    yield finding;
  }
}

async function newSession(api: Api): Promise<z.infer<typeof Configured>> {
  const value = (await callTool(api, "loopback_configure", { name: "doctor" }))?.value;
  const configured = Configured.safeParse(value);
  if (configured.success) return configured.data;
  throw new Error(AnyErrorResult.safeParse(value).data?.message ?? "The server's answer is not understood.");
}
