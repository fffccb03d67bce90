import type { LaunchSpec } from "../../claude/launch/launch.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import { budgetLeft } from "./budget.ts";
import type { Session } from "./sessions.ts";

type SessionSpec = Omit<
  LaunchSpec,
  "claude" | "claudeVersion" | "dir" | "cgroups" | "umask" | "dataDir" | "prompt" | "env" | "loopback"
>;

/** Defaults for settings that sessions of earlier versions were stored without. */
const LATER_SETTINGS = { carrier: "http", max_budget_usd: null } as const;

/** The settings for the session's next turn. */
export function configOf({ name, kind, config, nextConfig }: Session): SessionConfig {
  const stored = nextConfig ?? config;
  if (stored && kind === "managed") return { ...LATER_SETTINGS, ...stored };
  throw new AppError(
    "invalid_arguments",
    (by) => `Session "${name}" was made for a claude that is started by hand: create another${by.create}.`,
  );
}

/** The session's part of the launch of its next turn. An ephemeral turn runs in a fork of the conversation. */
export function sessionSpec(session: Session, config: SessionConfig, ephemeral: boolean): SessionSpec {
  const isFirstOfFork = session.claudeSessionId === null && session.forkedFrom !== null;
  return {
    workingDir: config.working_dir,
    supervision: config.supervision,
    mcpServers: serversOf(config),
    model: config.model ?? undefined,
    systemPrompt: config.system_prompt ?? undefined,
    allowedTools: config.allowed_tools,
    disallowedTools: config.disallowed_tools,
    addDirs: config.add_dirs,
    maxTurns: config.max_turns ?? undefined,
    maxBudgetUsd: budgetLeft(session, config),
    resume: session.claudeSessionId ?? session.forkedFrom ?? undefined,
    forkSession: isFirstOfFork || (ephemeral && session.claudeSessionId !== null),
  };
}

function serversOf(config: SessionConfig): Record<string, Record<string, unknown>> {
  return Object.fromEntries(Object.entries(config.mcp_servers).map(([name, server]) => [name, Object(server)]));
}
