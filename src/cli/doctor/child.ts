import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { UsableClaude } from "../../claude/cli.ts";
import { filesIn, launch } from "../../claude/launch/launch.ts";
import { stopProcessTree } from "../../claude/process/stop-process.ts";
import type { Config } from "../../config.ts";
import type { McpConfig } from "../../contract/approvals/approval.ts";

/** What a program needs to run at all, and nothing that steers claude or pays for it. */
const KEPT = [
  "PATH",
  "LANG",
  "LC_ALL",
  "SHELL",
  "USER",
  "LOGNAME",
  "TERM",
  "LD_LIBRARY_PATH",
  "NIX_LD",
  "NIX_LD_LIBRARY_PATH",
];
const GRACE_MS = 500;
const Ending = z.object({ type: z.literal("result"), is_error: z.boolean(), result: z.string().optional() });

type ChildSpec = {
  claude: UsableClaude;
  modelUrl: string;
  /** Holds all that the child reads and writes. */
  directory: string;
  loopback: McpConfig["mcpServers"]["plexus"];
  environment: Config["environment"];
};

export type Child = AsyncDisposable & {
  work: string;
  exited: Promise<void>;
  /** Why it ended, in its own words, if it did not end well. */
  complaint(): string | undefined;
};

/** The CLI of this machine, started as Plexus starts its children, away from all settings of its user. */
export function startChild({ claude, modelUrl, directory, loopback, environment }: ChildSpec): Child {
  const place = (name: string) => {
    const path = join(directory, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const [home, work, tmp, dir] = [place("home"), place("work"), place("tmp"), join(directory, "child")];
  const child = launch({
    claude: claude.path,
    claudeVersion: claude.version,
    dir,
    workingDir: work,
    prompt: "Make the calls of `plexus doctor`.",
    umask: 0o077,
    supervision: "strict",
    dataDir: join(directory, "data"),
    loopback,
    env: {
      ...Object.fromEntries(KEPT.map((name) => [name, environment[name]])),
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, ".claude"),
      TMPDIR: tmp,
      CLAUDE_CODE_TMPDIR: tmp,
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "none-is-needed",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_AUTOUPDATER: "1",
    },
  });
  const files = filesIn(dir);
  return {
    work,
    exited: child.exited,
    complaint() {
      const endings = readFileSync(files.stdout, "utf8").split("\n").flatMap(endingIn);
      const ending = endings.at(-1);
      if (ending && !ending.is_error) return undefined;
      return ending?.result ?? readFileSync(files.stderr, "utf8").trim().split("\n").at(-1) ?? "";
    },
    async [Symbol.asyncDispose]() {
      await stopProcessTree(child, { graceMs: GRACE_MS, dir });
    },
  };
}

function endingIn(line: string): z.infer<typeof Ending>[] {
  try {
    return [Ending.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
