import type { Supervision } from "../../contract/sessions/supervision.ts";
import { supports } from "../cli-version.ts";
import { pathOutside } from "./program-path.ts";

/** The CLI's own variables that a child keeps: login, model address, and limits. */
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
 * Variables of Plexus and Bun, the timeouts that would end a waiting permission call, and every CLAUDE… variable that
 * is not known to be harmless: each version adds some that mark a nested session, change the mode or skip a question.
 */
const REMOVED =
  /^(PLEXUS_|BUN_|CLAUDE|IS_SANDBOX$|IS_DEMO$|MCP_(TOOL_TIMEOUT|CONNECTION_NONBLOCKING|PROTOCOL_NEGOTIATION)$)/;

/** High enough for the answer to any permission call. */
const MAX_MCP_OUTPUT_TOKENS = "1000000";

/** The variables that seal a child off from settings of the project it works in and from notes of other sessions. */
export function sealingVariables(claudeVersion: string | undefined): Record<string, string> {
  return {
    // Otherwise a prompt with @file reads that file without a tool call, wherever it links to.
    CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1",
    ...(!supports(claudeVersion, "fileMentionsOff") && NO_ATTACHMENTS),
    // Otherwise the CLI runs `git status` at its start, which runs programs named in the repository's configuration.
    CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1",
    // Otherwise a `cd` in one call changes what relative paths mean in the next.
    CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
    // Otherwise notes from the user's other sessions go to the model, in a worktree those of another repository.
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  };
}

/** For versions that can't switch off @file alone; this also drops the searchable tool list, so all tools are listed. */
const NO_ATTACHMENTS = { CLAUDE_CODE_DISABLE_ATTACHMENTS: "1", ENABLE_TOOL_SEARCH: "false" };

type Sealing = {
  supervision: Supervision;
  claudeVersion?: string | undefined;
  /** The child's working and added directories: no program in them is found on PATH. */
  dirs: string[];
};

/** The child's environment: the server's, without what would change how the child asks for permission. */
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
