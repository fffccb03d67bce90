import { Database } from "bun:sqlite";
import { join } from "node:path";
import { writeStandIn } from "../tests/support/claude/stand-in.ts";
import { ms, percentile, type Row, times } from "./measure.ts";
import { openParent, workingDirIn } from "./server/parent.ts";
import { OPERATOR_TOKEN, temporaryDataDir } from "./server/server-process.ts";
import { answered, freePort } from "./start-up.ts";

const CHILDREN = 200;
const EVENTS = 100_000;
const ROUNDS = 5;
const GOAL_MS = 1_000;

/** Measures the time from the binary's start to its first `/readyz`, with many children to adopt, and with none. */
export async function adoptionFigures(program: string): Promise<{ title: string; rows: Row[] }> {
  using directory = temporaryDataDir();
  const dataDir = join(directory.path, "data");
  const claude = writeStandIn(directory.path, "exec sleep 3600");
  const start = () => startServer(program, dataDir, claude);

  const first = await start();
  using parent = await openParent(first);
  const working_dir = workingDirIn(directory.path);
  for (let child = 0; child < CHILDREN; child++) {
    await parent.call("claudecode_create", { name: `child-${child}`, working_dir });
    await parent.call("claudecode_chat_async", { name: `child-${child}`, prompt: "sleep" });
  }
  await first.end("SIGKILL");
  storeEvents(dataDir);
  const adopting = await readyAfter(start, "SIGKILL");
  // SIGTERM stops the children, so that none is left to adopt.
  await (await start()).end("SIGTERM");
  const alone = await readyAfter(start, "SIGTERM");
  return {
    title: `(i) Start with ${CHILDREN} children to adopt and ${EVENTS} events stored, to the first /readyz`,
    rows: [
      { what: "the same data dir, nothing to adopt", measured: ms(alone) },
      {
        what: `${CHILDREN} children adopted`,
        measured: `${ms(adopting)} = ${times(adopting / alone)}`,
        goal: `≤ ${GOAL_MS} ms`,
        met: adopting <= GOAL_MS,
      },
    ],
  };
}

type Server = { port: number; readyMs: number; end(signal: NodeJS.Signals): Promise<void> };

async function startServer(program: string, dataDir: string, claude: string): Promise<Server> {
  const port = freePort();
  const flags = ["--port", port, "--data-dir", dataDir, "--claude", claude, "--max-running", CHILDREN].map(String);
  const startedAt = performance.now();
  const server = Bun.spawn([program, "serve", ...flags, "--log-level", "error"], {
    env: { ...process.env, PLEXUS_TOKEN: OPERATOR_TOKEN },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await answered(`http://127.0.0.1:${port}/readyz`);
  return {
    port,
    readyMs: performance.now() - startedAt,
    async end(signal) {
      server.kill(signal);
      await server.exited;
    },
  };
}

async function readyAfter(start: () => Promise<Server>, ending: NodeJS.Signals): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await start();
    samples.push(server.readyMs);
    await server.end(ending);
  }
  return percentile(samples, 0.5);
}

/** Stores an equal share of the events for each child. */
function storeEvents(dataDir: string): void {
  using db = new Database(join(dataDir, "plexus.db"));
  db.query(
    `INSERT INTO turn_events (turn_id, seq, event)
     WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
     SELECT turns.id, turns.event_count + n.i, '{"type":"content","text":"what a child has said so far"}' FROM turns, n`,
  ).run(EVENTS / CHILDREN);
  db.query("UPDATE turns SET event_count = event_count + ?1").run(EVENTS / CHILDREN);
}
