import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endRun, RUN_MARKER, survivors } from "../processes/processes.ts";
import { temporaryDirectory } from "../temporary.ts";
import { until } from "../until.ts";
import { type ClaudeRun, superviseRun } from "./claude-run.ts";

export type { ClaudeOutcome, ClaudeRun } from "./claude-run.ts";
export type { ClaudeLine, PermissionDenial, ResultLine } from "./lines.ts";

export const CLAUDE = join(import.meta.dir, "../../../node_modules/.bin/claude");

/** How long a process may take to exit by itself after the body. */
const LEAVING_MS = 3_000;

export type ClaudeOptions = {
  model: { url: string };
  prompt: string;
  /** The whole MCP configuration: `{ mcpServers: { … } }`. */
  mcpConfig?: object;
  /** `null` for a run without a permission prompt tool. */
  permissionTool?: string | null;
  args?: string[];
  cwd?: string;
  /** Contains the conversations too: pass the same one, and the same cwd, to `--resume`. */
  home?: string;
  env?: Record<string, string>;
  /** For a body that deliberately ends while the CLI still runs. */
  mayLeaveRunning?: boolean;
};

/** Runs the real CLI during the body. No process of the run outlives this call. */
export async function withClaude<T>(options: ClaudeOptions, body: (run: ClaudeRun) => T | Promise<T>): Promise<T> {
  await using directory = await temporaryDirectory();
  const runId = crypto.randomUUID();
  const run = await startClaude(options, directory.path, runId);
  try {
    const value = await body(run);
    if (!options.mayLeaveRunning) await expectNoSurvivors(runId);
    await endRun(runId);
    return value;
  } catch (error) {
    // An error of the body explains more than a process that does not exit.
    await endRun(runId).catch(() => undefined);
    throw error;
  }
}

async function startClaude(options: ClaudeOptions, directory: string, runId: string): Promise<ClaudeRun> {
  const { PATH = "" } = process.env;
  const home = options.home ?? join(directory, "home");
  const cwd = options.cwd ?? join(directory, "work");
  const scratch = join(directory, "tmp");
  for (const path of [home, cwd, scratch]) await mkdir(path, { recursive: true });

  const subprocess = Bun.spawn([CLAUDE, ...flags(options, await writeMcpConfig(options.mcpConfig, directory))], {
    cwd,
    env: {
      PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, ".claude"),
      TMPDIR: scratch,
      CLAUDE_CODE_TMPDIR: scratch,
      ANTHROPIC_BASE_URL: options.model.url,
      ANTHROPIC_API_KEY: "dummy",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      ...options.env,
      [RUN_MARKER]: runId,
    },
    stdin: new Blob([options.prompt]),
    stdout: "pipe",
    stderr: "pipe",
  });
  return superviseRun(subprocess, { cwd, home });
}

function flags(options: ClaudeOptions, mcpConfigFile: string | undefined): string[] {
  const output = ["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"];
  const config = mcpConfigFile === undefined ? [] : ["--mcp-config", mcpConfigFile, "--strict-mcp-config"];
  const { permissionTool = mcpConfigFile === undefined ? null : "mcp__plexus__loopback_permit", args = [] } = options;
  const permission = permissionTool === null ? [] : ["--permission-prompt-tool", permissionTool];
  return [...output, "--permission-mode", "default", ...config, ...permission, ...args];
}

async function writeMcpConfig(config: object | undefined, directory: string): Promise<string | undefined> {
  if (config === undefined) return undefined;
  const file = join(directory, "mcp.json");
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  await chmod(file, 0o600);
  return file;
}

async function expectNoSurvivors(runId: string): Promise<void> {
  try {
    await until("nothing to survive", () => survivors(runId).length === 0, LEAVING_MS);
  } catch {
    const left = survivors(runId).map(({ pid, command }) => `${pid} ${command}`);
    if (left.length > 0) throw new Error(`the run left processes behind:\n${left.join("\n")}`);
  }
}
