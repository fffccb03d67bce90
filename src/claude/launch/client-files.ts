import { join } from "node:path";

/** Programs that can be a parent, and that `plexus connect` writes a token for. */
export const CLIENTS = ["claude", "claude-desktop", "cursor", "vscode", "codex", "gemini"] as const;
export type ClientName = (typeof CLIENTS)[number];

/**
 * A field of Claude Code's MCP entry: without it, the model only sees the server's tools after it has searched for one.
 */
export const ALWAYS_LOAD = { alwaysLoad: true };

type User = { home: string; env: Record<string, string | undefined> };

/** The file in which a client keeps its user's settings. */
export function clientFile(name: ClientName, { home, env }: User): string {
  switch (name) {
    case "claude":
      return join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json");
    case "claude-desktop":
      return join(applicationDir({ home, env }), "Claude", "claude_desktop_config.json");
    case "cursor":
      return join(home, ".cursor", "mcp.json");
    case "vscode":
      return join(applicationDir({ home, env }), "Code", "User", "mcp.json");
    case "codex":
      return join(env["CODEX_HOME"] || join(home, ".codex"), "config.toml");
    case "gemini":
      return join(env["GEMINI_CLI_HOME"] || home, ".gemini", "settings.json");
  }
}

/** Where desktop programs keep their users' files. */
function applicationDir({ home, env }: User): string {
  if (process.platform === "darwin") return join(home, "Library", "Application Support");
  if (process.platform === "win32") return env["APPDATA"] || join(home, "AppData", "Roaming");
  return env["XDG_CONFIG_HOME"] || join(home, ".config");
}
