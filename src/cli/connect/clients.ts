import { ALWAYS_LOAD, type ClientName, clientFile } from "../../claude/launch/client-files.ts";
import type { Config } from "../../config.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { ConfigFormat } from "./config-format.ts";
import { jsonFormat } from "./json-format.ts";
import { tomlFormat } from "./toml-format.ts";

/** A program that can be a parent, and how its user's settings name a server. */
export type Client = {
  title: string;
  file: string;
  format: ConfigFormat;
  entry(server: { url: string; token: string }): JsonObject;
  /** What makes it look at its settings again. */
  next: string;
};

/** What it is called in every client: the tools of an agent that supervises have it in their names. */
const NAME = "plexus";
/** The longest wait that Plexus offers takes 110 seconds; earlier versions of Codex give a tool 60 unless told. */
const CODEX_TOOL_SECS = 120;

export function clientOf(name: ClientName, config: Config): Client {
  const file = clientFile(name, { home: config.home, env: config.environment });
  switch (name) {
    case "claude":
      return {
        title: "Claude Code",
        file,
        format: jsonFormat(["mcpServers", NAME]),
        entry: ({ url, token }) => ({ type: "http", url: `${url}/mcp`, headers: bearer(token), ...ALWAYS_LOAD }),
        next: "A claude that is started from now on has it; `claude mcp list` shows it.",
      };
    case "claude-desktop":
      return {
        title: "Claude Desktop",
        file,
        format: jsonFormat(["mcpServers", NAME]),
        // It speaks only stdio, and has neither the user's path nor environment.
        entry: ({ url, token }) => {
          const [command = "", ...args] = config.program;
          return { command, args: [...args, "mcp"], env: { PLEXUS_URL: url, PLEXUS_TOKEN: token } };
        },
        next: "Quit Claude Desktop and start it again.",
      };
    case "cursor":
      return {
        title: "Cursor",
        file,
        format: jsonFormat(["mcpServers", NAME]),
        entry: ({ url, token }) => ({ url: `${url}/mcp`, headers: bearer(token) }),
        next: "Cursor shows it in its settings, under MCP.",
      };
    case "vscode":
      return {
        title: "VS Code",
        file,
        format: jsonFormat(["servers", NAME]),
        entry: ({ url, token }) => ({ type: "http", url: `${url}/mcp`, headers: bearer(token) }),
        next: "VS Code offers to start it; `MCP: List Servers` shows it.",
      };
    case "codex":
      return {
        title: "Codex",
        file,
        format: tomlFormat(["mcp_servers", NAME]),
        entry: ({ url, token }) => ({
          url: `${url}/mcp`,
          tool_timeout_sec: CODEX_TOOL_SECS,
          http_headers: bearer(token),
        }),
        next: "A codex that is started from now on has it; `/mcp` in it shows it.",
      };
    case "gemini":
      return {
        title: "Gemini CLI",
        file,
        format: jsonFormat(["mcpServers", NAME]),
        entry: ({ url, token }) => ({ type: "http", url: `${url}/mcp`, headers: bearer(token) }),
        next: "A gemini that is started from now on has it; `/mcp` in it shows it.",
      };
  }
}

function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}
