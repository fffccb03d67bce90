import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../../../src/claude/launch/environment.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const INHERIT = { supervision: "inherit" as const, dirs: [] };

test("a child keeps the variables for its login, its proxies and the model's address", () => {
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
  expect(childEnvironment(kept, INHERIT)).toEqual({ ...kept, MAX_MCP_OUTPUT_TOKENS: "1000000" });
});

test("a child gets no variable of Plexus or Bun, and none that marks a nested session or changes how it asks", () => {
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
  expect(childEnvironment(env, INHERIT)).toEqual({ MAX_MCP_OUTPUT_TOKENS: "1000000" });
});

describe.each(["strict", "default"] as const)("a child of %s", (supervision) => {
  test("is sealed off from its project's settings and from other sessions", () => {
    expect(childEnvironment({}, { supervision, dirs: [] })).toMatchObject({
      CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
      CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1",
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
      CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
    });
  });

  test.each(["2.1.197", "2.1.296", undefined])(
    "has no attachments, and sees all tools, when @file can't be switched off alone: version %s",
    (claudeVersion) => {
      const env = { ENABLE_TOOL_SEARCH: "true" };
      expect(childEnvironment(env, { supervision, claudeVersion, dirs: [] })).toMatchObject({
        CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
        ENABLE_TOOL_SEARCH: "false",
      });
    },
  );

  test.each(["2.1.299", "2.1.325", "3.0.0"])(
    "has attachments when @file can be switched off alone: version %s",
    (claudeVersion) => {
      const sealed = childEnvironment({}, { supervision, claudeVersion, dirs: [] });
      expect(Object.keys(sealed)).not.toContain("CLAUDE_CODE_DISABLE_ATTACHMENTS");
      expect(Object.keys(sealed)).not.toContain("ENABLE_TOOL_SEARCH");
    },
  );

  test("finds no program by name in its own directories or in the current directory", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    for (const name of ["work/bin", "added", "outside", "worker"]) mkdirSync(at(name), { recursive: true });
    symlinkSync(at("work/bin"), at("outside/linked"));
    symlinkSync(at("outside"), at("work/out"));
    symlinkSync(at("work"), at("alias"));
    const inside = [at("work"), at("work/bin"), at("work/none"), at("added"), at("outside/linked"), "", ".", "bin"];
    const kept = [at("outside"), at("worker"), at("work/out"), "/usr/bin"];
    const PATH = [...inside, ...kept].join(":");
    const dirs = [at("alias"), at("added")];
    expect(childEnvironment({ PATH }, { supervision, dirs })["PATH"]).toBe(kept.join(":"));
    expect(childEnvironment({ PATH: inside.join(":") }, { supervision, dirs })["PATH"]).toBe("/usr/bin:/bin");
    expect(childEnvironment({ PATH }, { ...INHERIT, dirs })["PATH"]).toBe(PATH);
  });
});
