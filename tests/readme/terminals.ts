import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type ScriptedModel, startScriptedModel } from "../support/model/scripted-model.ts";
import { signal } from "../support/processes/processes.ts";
import { withRun } from "../support/processes/run.ts";
import { plexusBinary } from "../support/server/binary.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { ROOT } from "./readme.ts";

export type Finished = { exitCode: number; stdout: string; stderr: string };
export type Started = { pid: number; finished: Promise<Finished> };

/** A machine on which a person follows the README: a home, a working directory, and terminals. */
export type Machine = {
  home: string;
  cwd: string;
  model: ScriptedModel;
  /** The environment of every terminal. */
  env: Record<string, string>;
  /** Pastes these lines into a new terminal. */
  paste(lines: string, options?: { cwd?: string; env?: Record<string, string> }): Started;
  /** Pastes lines that start a server, resolves with its URL once it listens, and stops it at the end. */
  serve(lines: string): Promise<string>;
};

const ServerFile = z.object({ pid: z.int(), url: z.url() });

/** Fails if any process that the body started, directly or indirectly, is left at the end. */
export async function onMachine(body: (machine: Machine) => Promise<void>): Promise<void> {
  await plexusBinary();
  await using directory = await temporaryDirectory();
  await using model = startScriptedModel();
  const home = join(directory.path, "home");
  const cwd = join(directory.path, "work");
  for (const path of [home, cwd]) await mkdir(path);
  await withRun(async (mark) => {
    const env = { ...environment(home, model.url), ...mark };
    const paste: Machine["paste"] = (lines, options = {}) =>
      start(lines, { cwd, ...options, env: { ...env, ...options.env } });
    await using servers = new AsyncDisposableStack();
    const serve = async (lines: string) => {
      const shell = paste(lines, { cwd: ROOT });
      servers.defer(() => interrupt(shell));
      return listening(shell, join(home, ".local/state/plexus/server.json"));
    };
    await body({ home, cwd, model, env, paste, serve });
  });
}

function environment(home: string, modelUrl: string): Record<string, string> {
  const paths = [join(ROOT, "dist"), join(ROOT, "node_modules/.bin"), process.env["PATH"] ?? ""];
  return {
    PATH: paths.join(":"),
    HOME: home,
    PLEXUS_PORT: "0",
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "dummy",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
  };
}

function start(lines: string, { cwd, env }: { cwd: string; env: Record<string, string> }): Started {
  const shell = Bun.spawn(["sh", "-ec", lines], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group, as in a terminal.
    detached: true,
  });
  const output = Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  const finished = output.then(([stdout, stderr, exitCode]) => ({ exitCode, stdout, stderr }));
  return { pid: shell.pid, finished };
}

async function listening(shell: Started, serverFile: string): Promise<string> {
  let ended: Finished | undefined;
  void shell.finished.then((outcome) => {
    ended = outcome;
  });
  return until(
    "the server to listen",
    async () => {
      if (ended !== undefined) throw new Error(`it ended: ${JSON.stringify(ended)}`);
      const text = await readFile(serverFile, "utf8").catch(() => undefined);
      return text === undefined ? undefined : ServerFile.parse(JSON.parse(text)).url;
    },
    60_000,
  );
}

/** Ctrl-C: signals the whole process group. */
async function interrupt(shell: Started): Promise<void> {
  signal(-shell.pid, "SIGINT");
  await shell.finished;
}
