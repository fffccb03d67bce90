import { chmodSync, closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../contract/refusals/errors.ts";
import { createMarkers, MARK, markerArguments, markOf } from "../process/markers.ts";
import { findProcess, type ProcessIdentity, processesWith } from "../process/processes.ts";
import { userLogin } from "../settings/login.ts";
import { type CommandSpec, commandLine, mcpConfig } from "./command-line.ts";
import { childEnvironment } from "./environment.ts";
import { privatePaths, tokenPaths } from "./private-paths.ts";
import { addedSystemPrompt } from "./system-prompt.ts";
import { checkDirectory } from "./working-dir.ts";

export type LaunchSpec = Omit<CommandSpec, "mcpConfigFile" | "systemPromptFile" | "loginHelpers" | "privatePaths"> & {
  /** The CLI's path. */
  claude: string;
  /** The turn's own directory for all files of this child. */
  dir: string;
  /** The control group below which each child gets its own, if the machine has control groups. */
  cgroups?: string | undefined;
  dataDir: string;
  prompt: string;
  systemPrompt?: string | undefined;
  umask: number;
  env: Record<string, string | undefined>;
};

export type LaunchedChild = ProcessIdentity & {
  /** Resolves when the child has ended. */
  exited: Promise<void>;
};

export function filesIn(dir: string) {
  return {
    mcpConfig: join(dir, "mcp.json"),
    prompt: join(dir, "prompt"),
    systemPrompt: join(dir, "system-prompt"),
    stdout: join(dir, "stdout.jsonl"),
    stderr: join(dir, "stderr.log"),
    exit: join(dir, "exit"),
  };
}

/**
 * Sets the markers and the umask, which all processes of the child inherit, and runs the CLI. Then it writes the exit
 * code to a file atomically: a later server can't wait for a process that it did not start. PATH is set so that `mv` is
 * the system's own.
 */
const LAUNCH_SCRIPT = `{ [ -z "$1" ] || ulimit -m "$1"; echo 0 >"$2"; } 2>/dev/null; umask "$3"; shift 3; "$@"; echo $? >"$0".tmp && PATH=/usr/bin:/bin:"$PATH" mv "$0".tmp "$0"`;

/** Starts the CLI in its own process session with its output in files, so that both survive this process. */
export function launch(spec: LaunchSpec): LaunchedChild {
  checkDirectory("working_dir", spec.workingDir);
  const files = filesIn(spec.dir);
  const childDirs = [spec.workingDir, ...(spec.addDirs ?? [])];
  const login = spec.supervision === "inherit" ? { helpers: {}, env: {} } : userLogin(spec.env, childDirs);
  const where = { dataDir: spec.dataDir, home: spec.env["HOME"] || homedir(), env: spec.env };
  // A child that inherits the settings may read and change them; the tokens of Plexus stay private.
  const forbiddenPaths = spec.supervision === "inherit" ? tokenPaths(where) : privatePaths(where);
  const systemPrompt = addedSystemPrompt({ ...spec, privatePaths: forbiddenPaths });
  const args = commandLine({
    ...spec,
    mcpConfigFile: files.mcpConfig,
    systemPromptFile: systemPrompt && files.systemPrompt,
    loginHelpers: login.helpers,
    privatePaths: forbiddenPaths,
  });
  const config = JSON.stringify(mcpConfig(spec));

  mkdirSync(spec.dir, { recursive: true, mode: 0o700 });
  chmodSync(spec.dir, 0o700);
  rmSync(files.exit, { force: true });
  writePrivately(files.mcpConfig, config);
  writePrivately(files.prompt, spec.prompt);
  if (systemPrompt) writePrivately(files.systemPrompt, systemPrompt);
  const stdio: number[] = [];
  try {
    stdio.push(openSync(files.prompt, "r"), openForOutput(files.stdout), openForOutput(files.stderr));
    const [stdin = 0, stdout = 1, stderr = 2] = stdio;
    const markers = markerArguments(createMarkers(spec.dir, spec.cgroups));
    const inherited = [...markers, spec.umask.toString(8)];
    const subprocess = Bun.spawn(["/bin/sh", "-c", LAUNCH_SCRIPT, files.exit, ...inherited, spec.claude, ...args], {
      cwd: spec.workingDir,
      env: {
        ...childEnvironment({ ...spec.env, ...login.env }, { ...spec, dirs: childDirs }),
        [MARK]: markOf(spec.dir),
      },
      stdio: [stdin, stdout, stderr],
      detached: true,
    });
    // The server may exit while its children go on.
    subprocess.unref();
    const startTime = findProcess(subprocess.pid)?.startTime ?? "";
    return { pid: subprocess.pid, startTime, exited: subprocess.exited.then(() => undefined) };
  } catch (error) {
    rmSync(files.mcpConfig, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError("internal", `Claude Code could not be started: ${reason}`, { cause: error });
  } finally {
    for (const fd of stdio) closeSync(fd);
  }
}

/** Finds the outermost process of a child by its directory alone. */
export function findChildProcess(dir: string): ProcessIdentity | undefined {
  const marked = processesWith(MARK, markOf(dir));
  return marked.find(({ parent }) => !marked.some(({ pid }) => pid === parent));
}

function writePrivately(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: "wx" });
}

function openForOutput(path: string): number {
  return openSync(path, constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND, 0o600);
}
