import { expect, test } from "bun:test";
import { childEnvironment } from "../../src/claude/environment.ts";

test("a child keeps its login, its proxies and what says where the model is", () => {
  const kept = {
    PATH: "/bin",
    HOME: "/srv/me",
    HTTPS_PROXY: "http://proxy",
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: "http://model",
    CLAUDE_CONFIG_DIR: "/config",
    CLAUDE_CODE_OAUTH_TOKEN: "token",
    CLAUDE_CODE_USE_BEDROCK: "1",
    CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1",
    AWS_REGION: "eu",
  };
  expect(childEnvironment(kept, "inherit")).toEqual({ ...kept, MAX_MCP_OUTPUT_TOKENS: "1000000" });
});

test("a child gets nothing that is ours or Bun's, marks a nested session, or changes how it asks", () => {
  const removed = [
    "PLEXUS_TOKEN",
    "PLEXUS_DATA_DIR",
    "BUN_OPTIONS",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_EVEN_MORE_DANGEROUSLY_SKIP_PERMISSIONS",
    "CLAUDE_CODE_ENABLE_AUTO_MODE",
    "CLAUDE_CODE_MANAGED_SETTINGS_PATH",
    "CLAUDE_CODE_SANDBOXED",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_MAX_TURNS",
    "CLAUDE_BG_SESSION_PERMISSION_RULES",
    "IS_SANDBOX",
    "MCP_TOOL_TIMEOUT",
    "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT",
  ];
  const env = {
    ...Object.fromEntries(removed.map((name) => [name, "1"])),
    MAX_MCP_OUTPUT_TOKENS: "1",
    GONE: undefined,
  };
  expect(childEnvironment(env, "inherit")).toEqual({ MAX_MCP_OUTPUT_TOKENS: "1000000" });
});

test.each(["strict", "default"] as const)("a child of %s is sealed off from what its project names", (supervision) => {
  expect(childEnvironment({}, supervision)).toMatchObject({
    CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
    CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
    CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
  });
});
