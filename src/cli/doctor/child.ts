import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { UsableClaude } from "../../claude/cli.ts";
import { filesIn, launch } from "../../claude/launch/launch.ts";
import { stopProcessTree } from "../../claude/process/stop-process.ts";
import { scriptedEnvironment } from "../../claude/scripted/environment.ts";
import type { Config } from "../../config.ts";
import type { McpConfig } from "../../contract/approvals/approval.ts";

const GRACE_MS = 500;
const Ending = z.object({ type: z.literal("result"), is_error: z.boolean(), result: z.string().optional() });

type ChildSpec = {
  claude: UsableClaude;
  modelUrl: string;
  /** The directory for everything that the child reads and writes. */
  directory: string;
  loopback: McpConfig["mcpServers"]["plexus"];
  environment: Config["environment"];
};

export type Child = AsyncDisposable & {
  work: string;
  exited: Promise<void>;
  /** The child's own error message, if it failed. */
  complaint(): string | undefined;
};

/** Starts the CLI of this machine as Plexus starts its children, without its user's settings. */
export function startChild({ claude, modelUrl, directory, loopback, environment }: ChildSpec): Child {
  const [work, dir] = [join(directory, "work"), join(directory, "child")];
  mkdirSync(work, { recursive: true });
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
    env: scriptedEnvironment(environment, directory, modelUrl),
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
