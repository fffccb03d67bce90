import type { Supervision } from "../../contract/sessions/supervision.ts";
import { takes } from "../cli-version.ts";
import { pathOutside } from "./program-path.ts";

/** Who pays, where the model is, and limits: all that a child keeps of what steers the CLI. */
const KEPT = [
  /^CLAUDE_CONFIG_DIR$/,
  /^CLAUDE_SECURESTORAGE_CONFIG_DIR$/,
  /^CLAUDE_API_KEY$/,
  /^CLAUDE_CODE_OAUTH_(TOKEN|REFRESH_TOKEN|CLIENT_ID|SCOPES)$/,
  /^CLAUDE_CODE_GATEWAY_TOKEN$/,
  /^CLAUDE_CODE_API_(BASE_URL|KEY_HELPER_TTL_MS)$/,
  /^CLAUDE_CODE_CUSTOM_OAUTH_URL$/,
  /^CLAUDE_CODE_(CLIENT_(CERT|KEY|KEY_PASSPHRASE)|CERT_STORE)$/,
  /^CLAUDE_CODE_USE_(ANTHROPIC_AWS|ANTHROPIC_GOOGLE_CLOUD|BEDROCK|FOUNDRY|GATEWAY|MANTLE|VERTEX)$/,
  /^CLAUDE_CODE_SKIP_[A-Z_]+_AUTH$/,
  /^CLAUDE_CODE_(HTTPS?_PROXY|PROXY_(AUTHENTICATE|HOST|RESOLVES_HOSTS|URL))$/,
  /^CLAUDE_CODE_DISABLE_(NONESSENTIAL_TRAFFIC|EXPERIMENTAL_BETAS|1M_CONTEXT|ADAPTIVE_THINKING|AUTO_MEMORY)$/,
  /^CLAUDE_CODE_(ENABLE_TELEMETRY|EFFORT_LEVEL|EXTRA_BODY|SUBAGENT_MODEL|TMPDIR|MAX_OUTPUT_TOKENS|MAX_RETRIES)$/,
  /^CLAUDE_CODE_(FILE_READ_MAX_OUTPUT_TOKENS|AUTO_COMPACT_WINDOW|MAX_CONTEXT_TOKENS|GIT_BASH_PATH)$/,
  /^CLAUDE_(STREAM_IDLE_TIMEOUT_MS|STREAM_FIRST_BYTE_TIMEOUT_MS)$/,
];

/**
 * Ours and Bun's; every CLAUDE… that isn't known to be harmless, since each version brings more that mark a nested
 * session, change the mode or skip a question; and the clocks that would end a waiting permit.
 */
const REMOVED =
  /^(PLEXUS_|BUN_|CLAUDE|IS_SANDBOX$|IS_DEMO$|MCP_(TOOL_TIMEOUT|CONNECTION_NONBLOCKING|PROTOCOL_NEGOTIATION)$)/;

/** So that an answer to a permit is as long as it needs to be. */
const MAX_MCP_OUTPUT_TOKENS = "1000000";

/** What seals a child off from the project that it works in, and from what was noted in other sessions. */
export function sealingVariables(claudeVersion: string | undefined): Record<string, string> {
  return {
    // Else a prompt that names a file as @file reads it, whatever it links to, without a call.
    CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1",
    ...(!takes(claudeVersion, "fileMentionsOff") && NO_ATTACHMENTS),
    // Else the CLI runs `git status` as it starts, and that runs what the repository's own configuration names.
    CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
    // Else a `cd` of one call holds for the next, and a relative path is not what it looks like.
    CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
    // Else notes from the user's other sessions go to the model, in a worktree those of another repository.
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  };
}

/** Where @file can't be switched off by itself; the list of tools to search for goes with it, so that all are shown. */
const NO_ATTACHMENTS = { CLAUDE_CODE_DISABLE_ATTACHMENTS: "1", ENABLE_TOOL_SEARCH: "false" };

type Sealing = {
  supervision: Supervision;
  claudeVersion?: string | undefined;
  /** Where the child works: nothing there runs by its bare name. */
  dirs: string[];
};

/** The environment of a child: ours, but for what would change how it asks. */
export function childEnvironment(
  env: Record<string, string | undefined>,
  { supervision, claudeVersion, dirs }: Sealing,
): Record<string, string> {
  const kept = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0])),
  );
  const child = { ...kept, MAX_MCP_OUTPUT_TOKENS };
  if (supervision === "inherit") return child;
  return { ...child, PATH: pathOutside(dirs, env["PATH"]), ...sealingVariables(claudeVersion) };
}

function isKept(name: string): boolean {
  const upper = name.toUpperCase();
  return !REMOVED.test(upper) || KEPT.some((pattern) => pattern.test(upper));
}
