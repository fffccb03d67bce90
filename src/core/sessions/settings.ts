import { AppError } from "../../contract/refusals/errors.ts";
import type { CreateInput, SessionConfig } from "../../contract/sessions/session.ts";
import type { McpServerPolicy } from "./mcp-server-policy.ts";
import type { Workspace } from "./workspace.ts";

/** The settings that a caller gives; absent ones are not asked for. */
export type AskedSettings = Omit<CreateInput, "name">;
type SettingsNeed = {
  workspace: Workspace;
  mcpServerPolicy: McpServerPolicy;
  /** The default for `loopback_timeout_secs`. */
  timeoutSecs: number;
};

const MAX_SHOWN_CHARS = 60;
/** Settings that may hold secrets and may be long. */
const NEVER_SHOWN: readonly string[] = ["mcp_servers", "metadata"] satisfies (keyof SessionConfig)[];

/** Checks the settings that callers ask for, and fills in defaults. */
export function createSettings({ workspace, mcpServerPolicy, timeoutSecs }: SettingsNeed) {
  /** The given settings in the form in which they are stored. */
  function given(asked: AskedSettings, workingDir: string): Partial<SessionConfig> {
    const values = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    const { working_dir = workingDir, add_dirs } = asked;
    if (asked.working_dir === undefined && add_dirs === undefined) return values;
    const directories = workspace.directories({ working_dir, add_dirs });
    return { ...values, working_dir: directories.working_dir, ...(add_dirs && { add_dirs: directories.add_dirs }) };
  }

  return {
    /** The complete settings of a new session of this owner. */
    chosen(asked: AskedSettings, owner: string): SessionConfig {
      const config = {
        ...workspace.directories(asked),
        model: asked.model ?? null,
        system_prompt: asked.system_prompt ?? null,
        loopback_enabled: asked.loopback_enabled ?? true,
        loopback_timeout_secs: asked.loopback_timeout_secs ?? timeoutSecs,
        supervision: asked.supervision ?? "default",
        allowed_tools: asked.allowed_tools ?? [],
        disallowed_tools: asked.disallowed_tools ?? [],
        ...(asked.rules && { rules: asked.rules }),
        mcp_servers: asked.mcp_servers ?? {},
        max_turns: asked.max_turns ?? null,
        max_budget_usd: asked.max_budget_usd ?? null,
        carrier: asked.carrier ?? "http",
        metadata: asked.metadata ?? {},
      };
      mcpServerPolicy.check(owner, config);
      return config;
    },

    /**
     * The settings with the given changes, checked in the same way. `serversFrom`: the owner that set the MCP servers.
     */
    changed(config: SessionConfig, asked: AskedSettings, serversFrom: string): SessionConfig {
      const changed = { ...config, ...given(asked, config.working_dir) };
      mcpServerPolicy.check(serversFrom, changed);
      return changed;
    },

    /** Throws `config_differs` with the names of the settings in which an existing session differs. */
    refuseDifferent(name: string, config: SessionConfig, asked: AskedSettings): void {
      const stored = new Map<string, unknown>(Object.entries(config));
      const differing = Object.entries(given(asked, config.working_dir)).flatMap(([setting, value]) =>
        Bun.deepEquals(value, stored.get(setting)) ? [] : [`${setting}${shown(setting, stored.get(setting))}`],
      );
      if (differing.length === 0) return;
      throw new AppError(
        "config_differs",
        (by) =>
          `Session "${name}" exists with another ${differing.join(", ")}. Leave that out to use the session as it is, ` +
          `change it first${by.update}, or choose another name.`,
      );
    },
  };
}

/** The value for the message, if it is short and no secret. */
function shown(setting: string, value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return NEVER_SHOWN.includes(setting) || text.length > MAX_SHOWN_CHARS ? "" : ` (${value === null ? "none" : text})`;
}
