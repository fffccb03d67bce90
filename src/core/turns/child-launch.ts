import type { UsableClaude } from "../../claude/cli.ts";
import { launch } from "../../claude/launch/launch.ts";
import type { ProcessIdentity } from "../../claude/process/processes.ts";
import { carrierServer } from "../../contract/sessions/carrier.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import type { BegunTurn } from "../../storage/turns.ts";
import type { Tokens } from "../access/tokens.ts";
import { budgetLeft } from "../sessions/budget.ts";
import { configOf, sessionSpec } from "../sessions/launch-spec.ts";
import type { McpServerPolicy } from "../sessions/mcp-server-policy.ts";
import type { Session } from "../sessions/sessions.ts";
import type { Workspace } from "../sessions/workspace.ts";

export type ChildLaunchNeed = {
  tokens: Pick<Tokens, "createForChild">;
  dataDir: string;
  workspace: Workspace;
  mcpServerPolicy: McpServerPolicy;
  /** Finds the CLI, or throws an error that says what to do. */
  claude: () => Promise<UsableClaude>;
  environmentOf: (sessionId: string) => Record<string, string | undefined>;
  /** The control group below which each child gets its own, if the host allows it. */
  cgroups: string | undefined;
  umask: number;
  childUrl: () => string;
  /** The command line of the program that connects a child over stdio to this server. */
  program: string[];
};

/** Starts the child of a turn with its session's settings, within what the operator permits. */
export function createChildLaunch(need: ChildLaunchNeed) {
  /** Resolves the directories again: a link may lead elsewhere than when the session was made. */
  function checkedConfig(session: Session): SessionConfig {
    const stored = configOf(session);
    const config = { ...stored, ...need.workspace.directories(stored) };
    need.mcpServerPolicy.check(session.serversFrom ?? session.owner, config);
    return config;
  }

  return {
    /** Throws if the session's child can't or must not be started. */
    async check(session: Session): Promise<void> {
      budgetLeft(session, checkedConfig(session));
      await need.claude();
    },
    async launch(dir: string, { turn, session, prompt }: BegunTurn): Promise<ProcessIdentity> {
      const config = checkedConfig(session);
      const claude = await need.claude();
      const token = config.loopback_enabled ? await need.tokens.createForChild(session.id) : undefined;
      return launch({
        ...sessionSpec(session, config, turn.ephemeral),
        claude: claude.path,
        claudeVersion: claude.version,
        dir,
        prompt,
        env: need.environmentOf(session.id),
        cgroups: need.cgroups,
        umask: need.umask,
        dataDir: need.dataDir,
        loopback:
          token === undefined
            ? undefined
            : carrierServer(config.carrier, { url: need.childUrl(), program: need.program }, token),
      });
    },
  };
}
