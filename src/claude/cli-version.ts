/** The oldest CLI whose permission calls were measured to work as Plexus needs them. */
const MINIMUM_CLAUDE_VERSION = "2.1.197";

/** The first version that was measured to support each feature. */
const SINCE = {
  /** `CLAUDE_CODE_DISABLE_FILE_MENTIONS`. */
  fileMentionsOff: "2.1.299",
  /** `--system-prompt-snapshot`; older versions exit with "unknown option", and record no system prompt. */
  systemPromptSnapshot: "2.1.257",
};

/** Whether the CLI is known to support the feature; an unknown version is not. */
export function supports(version: string | undefined, feature: keyof typeof SINCE): boolean {
  return version !== undefined && Bun.semver.order(version, SINCE[feature]) >= 0;
}

type ClaudeVersion = { version: string } | { problem: string };

const TIMEOUT_MS = 15_000;

type Limits = { timeoutMs?: number; signal?: AbortSignal | undefined };

/** Asks the CLI for its version; a problem says what to do. */
export async function claudeVersion(path: string, limits: Limits = {}): Promise<ClaudeVersion> {
  const { timeoutMs = TIMEOUT_MS, signal } = limits;
  const remedy = "install it with `npm install -g @anthropic-ai/claude-code`, or name another one with --claude";
  let output: string;
  try {
    const run = Bun.spawn([path, "--version"], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      ...(signal && { signal }),
    });
    output = await run.stdout.text();
    await run.exited;
    if (run.signalCode)
      return { problem: `${path} did not print its version within ${timeoutMs / 1000} s: ${remedy}.` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `${path} can't be run (${reason}): make it executable, or ${remedy}.` };
  }
  const version = /^(\d+\.\d+\.\d+)\S* \(Claude Code\)/m.exec(output)?.[1];
  if (version === undefined) return { problem: `${path} is not the Claude Code CLI: ${remedy}.` };
  if (Bun.semver.order(version, MINIMUM_CLAUDE_VERSION) < 0) {
    const update = "update it with `claude update` or `npm install -g @anthropic-ai/claude-code`";
    return {
      problem: `${path} is Claude Code ${version}; Plexus needs ${MINIMUM_CLAUDE_VERSION} or newer: ${update}.`,
    };
  }
  return { version };
}
