import { join } from "node:path";
import { until } from "../../tests/support/until.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** One server process, from its start to its end. */
export type Life = {
  pid: number;
  /** Set before the signal is sent, so a connection that breaks earlier has failed by itself. */
  isOver: boolean;
  log: string[];
  /** In this process's milliseconds. */
  startedAt: number;
  listensAt: number | undefined;
  /** Resolves when it listens; rejects if it ends by itself before. */
  listening: Promise<void>;
  /** Runs work that talks to this process and to no later one; the work must end when the connection does. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** The same for a client that does not notice the end: the signal aborts when nothing can arrive any more. */
  untilGone<T>(work: (gone: AbortSignal) => Promise<T>): Promise<T>;
};

export type Victim = {
  url: string;
  start(): Life;
  /** Resolves with the listening process, as soon as there is one. */
  up(): Promise<Life>;
  /** Kills it with SIGKILL; resolves when it is gone and everything it sent has been read. */
  kill(): Promise<void>;
  /** Stops it with SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
  /** Stops it with the signal that leaves its children to the next server, and returns the exit code. */
  handOver(): Promise<number | null>;
  /** Rejects all callers of `up`, because no further process will start. */
  giveUp(reason: Error): void;
};

type Options = {
  program?: string[] | undefined;
  dataDir: string;
  port: number;
  /** Without it, the server creates its own. */
  token?: string | undefined;
  args?: string[];
  env: Record<string, string>;
};

type Process = { life: Life; end(signal: NodeJS.Signals): Promise<number | null> };

/** Creates the server that is killed repeatedly, always on the same data dir and port. */
export function createVictim(options: Options): Victim {
  const { program = [process.execPath, MAIN], dataDir, port, token, args = [], env } = options;
  let gate = newGate();
  let current: Process | undefined;

  function start(): Life {
    const flags = ["serve", "--port", String(port), "--data-dir", dataDir, ...args];
    const server = Bun.spawn([...program, ...flags], {
      cwd: dataDir,
      env: { PATH: process.env["PATH"], HOME: dataDir, ...(token && { PLEXUS_TOKEN: token }), ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const talking = new Set<Promise<unknown>>();
    const watching = new Set<Promise<unknown>>();
    const gone = new AbortController();
    const listening = Promise.withResolvers<void>();
    listening.promise.catch(() => {});
    const life: Life = {
      pid: server.pid,
      isOver: false,
      log: [],
      startedAt: performance.now(),
      listensAt: undefined,
      listening: listening.promise,
      during: (work) => tracked(life, talking, work),
      untilGone: (work) => tracked(life, watching, () => work(gone.signal)),
    };
    const drained = eachLine(server.stderr, (line) => {
      life.log.push(line);
      if (life.isOver || life.listensAt !== undefined || !line.includes('"message":"listening"')) return;
      life.listensAt = performance.now();
      listening.resolve();
      gate.resolve(life);
    });
    void server.exited.then(async (code) => {
      if (life.isOver) return;
      life.isOver = true;
      await drained;
      const reason = new Error(`the server ended by itself (${code}):\n${life.log.slice(-20).join("\n")}`);
      listening.reject(reason);
      giveUp(reason);
    });
    current = {
      life,
      async end(signal) {
        life.isOver = true;
        if (life.listensAt !== undefined) gate = newGate();
        server.kill(signal);
        await server.exited;
        await drained;
        await until("the server's last words to be read", () => talking.size === 0);
        gone.abort();
        await until("those who talked to the server to notice", () => watching.size === 0);
        return server.exitCode;
      },
    };
    return life;
  }

  function giveUp(reason: Error): void {
    gate.reject(reason);
    gate = newGate();
    gate.reject(reason);
  }

  function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = current?.end(signal);
    current = undefined;
    return ending ?? Promise.resolve(null);
  }

  return {
    url: `http://127.0.0.1:${port}`,
    start,
    up: () => gate.promise,
    async kill() {
      await end("SIGKILL");
    },
    stop: () => end("SIGTERM"),
    handOver: () => end("SIGUSR2"),
    giveUp,
  };
}

function newGate(): PromiseWithResolvers<Life> {
  const gate = Promise.withResolvers<Life>();
  // It may fail while nobody is waiting.
  gate.promise.catch(() => {});
  return gate;
}

function tracked<T>(life: Life, running: Set<Promise<unknown>>, work: () => Promise<T>): Promise<T> {
  if (life.isOver) return Promise.reject(new Error("the server was killed"));
  const promise = work();
  running.add(promise);
  const done = () => void running.delete(promise);
  promise.then(done, done);
  return promise;
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
}
