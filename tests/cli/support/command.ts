import { join } from "node:path";
import { endRun, RUN_MARKER, survivors } from "../../support/processes/processes.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { until } from "../../support/until.ts";

/** The program from its sources, for tests that need them. */
export const MAIN = join(import.meta.dir, "../../../src/main.ts");
/** A hanging command fails its test by its exit code, before the suite's own timeout. */
const LONGEST_MS = 25_000;

export type Output = { exitCode: number | null; stdout: string; stderr: string };

export type CommandOptions = {
  env?: Record<string, string | undefined>;
  stdin?: string;
  cwd?: string;
  program?: string[];
};

/** Runs `plexus ARGS` as a process without a terminal. Fails if a process stays behind. */
export async function plexus(args: string[], options: CommandOptions = {}): Promise<Output> {
  return run([...(options.program ?? PROGRAM), ...args], options);
}

/** Runs a line as if pasted into another terminal. */
export async function pasted(line: string, options: CommandOptions = {}): Promise<Output> {
  return run(["sh", "-c", line], options);
}

async function run(command: string[], { env, stdin, cwd = "/" }: CommandOptions): Promise<Output> {
  const runId = crypto.randomUUID();
  const subprocess = Bun.spawn(command, {
    cwd,
    env: { ...environment(), ...env, [RUN_MARKER]: runId },
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([subprocess.stdout.text(), subprocess.stderr.text()]);
  const exitCode = await subprocess.exited;
  await expectNothingLeft(runId);
  return { exitCode, stdout, stderr };
}

export type Screen = AsyncDisposable & {
  pid: number;
  /** Everything written to the screen so far, including escape sequences. */
  text(): string;
  shows(what: string): Promise<string>;
  type(keys: string): void;
  /** Changes the size of the window. */
  resize(columns: number, rows: number): void;
  /** Closes the window. */
  close(): void;
  exited: Promise<number>;
};

/** Runs `plexus ARGS` on a terminal of its own. */
export function plexusOnScreen(
  args: string[],
  options: CommandOptions & { columns?: number; rows?: number } = {},
): Screen {
  const runId = crypto.randomUUID();
  const decoder = new TextDecoder();
  const drained = Promise.withResolvers<void>();
  let text = "";
  const subprocess = Bun.spawn([...(options.program ?? PROGRAM), ...args], {
    cwd: options.cwd ?? "/",
    env: { ...environment(), TERM: "xterm-256color", ...options.env, [RUN_MARKER]: runId },
    terminal: {
      cols: options.columns ?? 120,
      rows: options.rows ?? 40,
      data: (_, chunk) => {
        text += decoder.decode(chunk, { stream: true });
      },
      exit: () => drained.resolve(),
    },
  });
  const close = () => {
    subprocess.terminal?.close();
    drained.resolve();
  };
  return {
    pid: subprocess.pid,
    text: () => text,
    async shows(what) {
      const seen = await until(`the screen to show ${what}`, () => text.includes(what) && text).catch(() => undefined);
      if (seen === undefined) throw new Error(`the screen never showed "${what}", but:\n${text}`);
      return seen;
    },
    type: (keys) => void subprocess.terminal?.write(keys),
    resize: (columns, rows) => void subprocess.terminal?.resize(columns, rows),
    close,
    // The last output may arrive after the exit.
    exited: subprocess.exited.then((exitCode) => drained.promise.then(() => exitCode)),
    async [Symbol.asyncDispose]() {
      subprocess.kill("SIGKILL");
      await subprocess.exited;
      close();
      await expectNothingLeft(runId);
    },
  };
}

/** Keeps the machine's own settings out of the tests. */
function environment(): Record<string, string | undefined> {
  return { PATH: process.env["PATH"], HOME: "/nonexistent" };
}

async function expectNothingLeft(runId: string): Promise<void> {
  const left = survivors(runId);
  await endRun(runId);
  if (left.length > 0) throw new Error(`plexus left processes behind: ${JSON.stringify(left)}`);
}
