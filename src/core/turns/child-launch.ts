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
  /** The CLI, or a refusal that says what to do. */
  claude: () => Promise<UsableClaude>;
  environment: Record<string, string | undefined>;
  /** The control group in which each child gets one of its own, where there is any. */
  cgroups: string | undefined;
  umask: number;
  childUrl: () => string;
  /** How the program is called that carries a child to us. */
  program: string[];
};

/** How the child of a turn is started, as its session says and the operator lets it. */
export function createChildLaunch(need: ChildLaunchNeed) {
  /** Its directories as they really are now: a link may lead elsewhere than when the session was made. */
  function checkedConfig(session: Session): SessionConfig {
    const stored = configOf(session);
    const config = { ...stored, ...need.workspace.directories(stored) };
    need.mcpServerPolicy.check(session.serversFrom ?? session.owner, config);
    return config;
  }

  return {
    /** Refuses a session whose child could not be started, or must not be. */
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
        env: need.environment,
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
