import { z } from "zod";
import type { UsableClaude } from "../../claude/cli.ts";
import type { Config } from "../../config.ts";
import { McpConfig } from "../../contract/approvals/approval.ts";
import { ErrorResult } from "../../contract/errors.ts";
import { callTool } from "../../mcp/client.ts";
import { findServer, type Server } from "../server/server-client.ts";
import { CALLS, createScenes } from "./checks.ts";
import { startChild } from "./child.ts";
import { type Finding, found, type Step, skipped } from "./finding.ts";
import { startScriptedModel } from "./model.ts";

const Configured = z.object({ session_id: z.string(), mcp_config: McpConfig });
const Deleted = z.object({ type: z.literal("deleted") });

type Need = { config: Config; claude: UsableClaude; directory: string; signal: AbortSignal };

/** A real child whose calls are allowed, denied and edited, as in earnest. */
export async function* rehearsal({ config, claude, directory, signal }: Need): AsyncGenerator<Finding> {
  const server = findServer(config);
  let session: z.infer<typeof Configured>;
  try {
    session = await newSession(server);
  } catch (cause) {
    yield await found("ask", () => Promise.reject(cause));
    return;
  }
  try {
    await using model = startScriptedModel(CALLS);
    const loopback = session.mcp_config.mcpServers.plexus;
    await using child = startChild({
      claude,
      modelUrl: model.url,
      directory,
      loopback,
      environment: config.environment,
    });
    const watched = findServer(config, signal);
    const scenes = createScenes({
      server: watched,
      sessionId: session.session_id,
      child,
      model,
      claude: claude.path,
      signal,
    });
    yield* inOrder(scenes);
  } finally {
    await server.request(Deleted, "DELETE", `/api/v1/sessions/${session.session_id}`);
  }
}

/** Each builds on the one before it. */
async function* inOrder(scenes: ReturnType<typeof createScenes>): AsyncGenerator<Finding> {
  let failed: Step | undefined;
  for (const [step, play] of scenes) {
    const finding: Finding = failed ? skipped(step, `not tried after ${failed}`) : await found(step, play);
    if (finding.state === "failed") failed = step;
    yield finding;
  }
}

async function newSession(server: Server): Promise<z.infer<typeof Configured>> {
  const name = `doctor-${crypto.randomUUID().slice(0, 8)}`;
  const value = (await callTool(server, "loopback_configure", { name }))?.value;
  const configured = Configured.safeParse(value);
  if (configured.success) return configured.data;
  throw new Error(ErrorResult.safeParse(value).data?.message ?? "The server's answer is not understood.");
}
