import { z } from "zod";
import { endRun, RUN_MARKER, survivors } from "../processes/processes.ts";
import { until } from "../until.ts";
import { freePort } from "./free-port.ts";
import { PROGRAM } from "./program.ts";

const Listening = z.object({ message: z.literal("listening"), url: z.string() });

export type ServerProcess = AsyncDisposable & {
  url: string;
  pid: number;
  log: string[];
  /** Its exit code after it ended. */
  exited: Promise<number>;
  /** Kills it at once, as a crash would. */
  kill(): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<number | null>;
};

type Options = {
  /** Without it, the server finds its data dir in HOME. */
  dataDir?: string;
  cwd?: string;
  home?: string;
  /** Without it, a free port, which stays the same for the next server after a kill. */
  port?: number;
  token?: string;
  args?: string[];
  program?: string[];
  /** Further variables. One with the run's marker lets children outlive a kill. */
  env?: Record<string, string>;
};

/** A server in a separate process, ready for calls. Nothing of it outlives the test. */
export async function startServerProcess(options: Options): Promise<ServerProcess> {
  const { dataDir, cwd = dataDir, home = dataDir, port = freePort(), token, args = [] } = options;
  const runId = crypto.randomUUID();
  const command = options.program ?? PROGRAM;
  const flags = ["serve", "--port", String(port), ...(dataDir ? ["--data-dir", dataDir] : []), ...args];
  const subprocess = Bun.spawn([...command, ...flags], {
    ...(cwd && { cwd }),
    env: { PATH: process.env["PATH"], HOME: home, PLEXUS_TOKEN: token, [RUN_MARKER]: runId, ...options.env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const log: string[] = [];
  void collect(subprocess.stderr, log);
  const url = await until("the server to listen", () => {
    if (subprocess.exitCode !== null)
      throw new Error(`the server ended with ${subprocess.exitCode}:\n${log.join("\n")}`);
    return log.map(urlIn).find((found) => found !== undefined);
  });
  const ended = async () => {
    await subprocess.exited;
    const left = survivors(runId);
    await endRun(runId);
    if (left.length > 0) throw new Error(`the server left processes behind: ${JSON.stringify(left)}`);
  };
  return {
    url,
    pid: subprocess.pid,
    log,
    exited: subprocess.exited,
    async kill() {
      subprocess.kill("SIGKILL");
      await ended();
    },
    async stop(signal) {
      subprocess.kill(signal);
      await ended();
      return subprocess.exitCode;
    },
    async [Symbol.asyncDispose]() {
      subprocess.kill("SIGKILL");
      await ended();
    },
  };
}

async function collect(stream: ReadableStream<Uint8Array>, lines: string[]): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  }
}

function urlIn(line: string): string | undefined {
  try {
    return Listening.safeParse(JSON.parse(line)).data?.url;
  } catch {
    return undefined;
  }
}
