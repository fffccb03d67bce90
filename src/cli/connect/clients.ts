import { ALWAYS_LOAD, type ClientName, clientFile } from "../../claude/launch/client-files.ts";
import type { Config } from "../../config.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { ConfigFormat } from "./config-format.ts";
import { jsonFormat } from "./json-format.ts";
import { tomlFormat } from "./toml-format.ts";

/** A program that can be a parent, and the form of its user's settings. */
export type Client = {
  title: string;
  file: string;
  format: ConfigFormat;
  entry(server: { url: string; token: string }): JsonObject;
  /** How to make the program read its settings again. */
  next: string;
};

/** The name of the entry in every client. It becomes part of the names of the tools. */
const NAME = "plexus";
/** The longest wait in Plexus takes 110 seconds; earlier versions of Codex stop a tool after 60 by default. */
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
        // Claude Desktop speaks only stdio, and gets neither the user's PATH nor environment.
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
