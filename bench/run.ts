/** Measures the README's figures on speed; each one is printed beside a reference from the same run. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { adoptionFigures } from "./adoption.ts";
import { blockedPermits } from "./blocked-permits.ts";
import { builtInReadFigures } from "./built-in-reads.ts";
import { childrenFigures, pollFigures, transcriptFigures } from "./children/sessions.ts";
import { commitLatency } from "./commit.ts";
import { decisionLatency, emptyCallLatency } from "./decision-latency.ts";
import { growthFigures } from "./growth/growth.ts";
import { storeHistory } from "./history.ts";
import { knownClientFigures } from "./known-clients.ts";
import { ms, percentile, type Row, table, times } from "./measure.ts";
import { parentLoopFigures } from "./parent-loop.ts";
import { ruleFigures } from "./rules.ts";
import { startBenchServer, temporaryDataDir } from "./server/server-process.ts";
import { emptyStart, startUp } from "./start-up.ts";
import { throughput } from "./throughput.ts";
import { triedRuleFigures } from "./tried-rules.ts";

const ROUNDS = 1_000;
const HISTORY = 1_000_000;
const FLOOR_SERVER = join(import.meta.dir, "server/floor-server.ts");
const MOST_OF_FLOOR = 0.75;
const LOAD = { inFlight: 128, total: 5_000, rounds: 4 };
const SIZES = [10_000, 100_000, 1_000_000].map((approvals) => ({
  approvals,
  events: approvals,
  sessions: Math.max(100, approvals / 100),
}));
const POLLING_SERVER = join(import.meta.dir, "server/polling-server.ts");
const BINARY = join(import.meta.dir, "../dist/plexus");
const MEGABYTE = 1024 * 1024;

const fresh = await measureDecisions();
await comparePolling(fresh.p50);
await measureBlocked();
await measureThroughput();
await measureHistory(fresh.p50);
await measureStart();
for (const figures of [
  transcriptFigures,
  pollFigures,
  childrenFigures,
  builtInReadFigures,
  parentLoopFigures,
  ruleFigures,
  () => growthFigures(SIZES),
  knownClientFigures,
]) {
  const { title, rows } = await figures();
  print(title, rows);
}
if (existsSync(BINARY)) {
  for (const figures of [adoptionFigures, triedRuleFigures]) {
    const { title, rows } = await figures(BINARY);
    print(title, rows);
  }
}

async function measureDecisions(): Promise<{ p50: number }> {
  using directory = temporaryDataDir();
  await using server = await startBenchServer(directory.path);
  const commit = commitLatency(directory.path, ROUNDS);
  const empty = await emptyCallLatency(server, ROUNDS);
  const decision = await decisionLatency(server, ROUNDS);
  const ratio = decision.p50 / empty.p50;
  print("(a) Decision sent → waiting permit answered (on disk, synchronous=FULL)", [
    { what: "one durable commit on this disk, p50 / p99", measured: `${ms(commit.p50)} / ${ms(commit.p99)}` },
    { what: "empty MCP call, p50 / p99", measured: `${ms(empty.p50)} / ${ms(empty.p99)}` },
    {
      what: "decision, p50",
      measured: `${ms(decision.p50)} = ${times(ratio)} the empty call`,
      goal: "≤ 2 ×",
      met: ratio <= 2,
    },
    { what: "decision, p99", measured: ms(decision.p99), goal: "≤ 10 ms", met: decision.p99 <= 10 },
  ]);
  return decision;
}

async function comparePolling(ourP50: number): Promise<void> {
  const rows: Row[] = [];
  for (const everyMs of [500, 1_000]) {
    using directory = temporaryDataDir();
    const settings = { POLL_EVERY_MS: String(everyMs) };
    await using server = await startBenchServer(directory.path, { script: POLLING_SERVER, settings });
    const polled = await decisionLatency(server, 10_000 / everyMs, 0);
    rows.push({
      what: `polling every ${everyMs} ms, p50`,
      measured: `${ms(polled.p50)} = ${times(polled.p50 / ourP50)} ours`,
    });
  }
  print("    the same against a server that polls", rows);
}

async function measureBlocked(): Promise<void> {
  using directory = temporaryDataDir();
  await using server = await startBenchServer(directory.path);
  const alone = await emptyCallLatency(server, 300);
  const blocked = await blockedPermits(server, 10_000);
  const megabytes = blocked.rssBytes / MEGABYTE;
  print(`(b) ${blocked.count} permits that wait at once, one MCP session and one connection each`, [
    { what: "memory before", measured: `${(blocked.baseBytes / MEGABYTE).toFixed(0)} MB` },
    { what: "memory while they wait", measured: `${megabytes.toFixed(0)} MB`, goal: "≤ 250 MB", met: megabytes <= 250 },
    { what: "all woken within", measured: ms(blocked.wakeAllMs), goal: "≤ 1000 ms", met: blocked.wakeAllMs <= 1_000 },
    {
      what: "empty MCP call meanwhile, p50",
      measured: `${ms(blocked.others.p50)} = ${times(blocked.others.p50 / alone.p50)} of before`,
    },
  ]);
}

/** Measures alternately with the minimal server, so that other load slows both down. */
async function measureThroughput(): Promise<void> {
  using directories = new DisposableStack();
  await using servers = new AsyncDisposableStack();
  const open = async (script?: string) =>
    servers.use(await startBenchServer(directories.use(temporaryDataDir()).path, script ? { script } : {}));
  const loads = [await open(), await open(FLOOR_SERVER)].map((server) => ({
    server,
    perSecond: [] as number[],
    micros: [] as number[],
  }));
  for (const { server } of loads) await throughput(server, LOAD.inFlight, LOAD.total);
  for (let round = 0; round < LOAD.rounds; round++) {
    for (const { server, perSecond, micros } of loads) {
      const before = await server.processorMs();
      perSecond.push(await throughput(server, LOAD.inFlight, LOAD.total));
      micros.push((((await server.processorMs()) - before) / LOAD.total) * 1_000);
    }
  }
  const [ours, floor] = loads.map(({ perSecond, micros }) => ({
    perSecond: percentile(perSecond, 0.5),
    micros: percentile(micros, 0.5),
  }));
  if (!ours || !floor) throw new Error("nothing was measured");
  const ratio = ours.perSecond / floor.perSecond;
  print("(c) Asked and decided per second, 128 in flight, each on disk (synchronous=FULL)", [
    {
      what: "the floor: the same rows by hand, on Bun.serve and bun:sqlite",
      measured: `${floor.perSecond.toFixed(0)} / s, ${floor.micros.toFixed(0)} µs of processor time each`,
    },
    {
      what: "ask + decision",
      measured: `${ours.perSecond.toFixed(0)} / s, ${ours.micros.toFixed(0)} µs = ${times(ratio)} the floor`,
      goal: `≥ ${MOST_OF_FLOOR} ×`,
      met: ratio >= MOST_OF_FLOOR,
    },
  ]);
}

async function measureHistory(freshP50: number): Promise<void> {
  using directory = temporaryDataDir();
  await storeHistory(directory.path, HISTORY);
  await using server = await startBenchServer(directory.path);
  const decision = await decisionLatency(server, ROUNDS);
  const ratio = decision.p50 / freshP50;
  print(`(d) (a) with ${HISTORY} decided approvals stored`, [
    {
      what: "decision, p50",
      measured: `${ms(decision.p50)} = ${times(ratio)} of fresh`,
      goal: "≤ 1.2 ×",
      met: ratio <= 1.2,
    },
  ]);
}

async function measureStart(): Promise<void> {
  if (!existsSync(BINARY)) {
    print("(e) Start to first /healthz", [{ what: "dist/plexus is missing", measured: "run `npm run build` first" }]);
    return;
  }
  const started = await startUp(BINARY, 10);
  const floor = await emptyStart(BINARY, 10);
  print("(e) Start of the binary", [
    { what: "`plexus version`", measured: ms(floor) },
    {
      what: "`plexus serve` to its first /healthz",
      measured: `${ms(started)} = ${times(started / floor)}`,
      goal: "≤ 80 ms",
      met: started <= 80,
    },
  ]);
}

function print(title: string, rows: Row[]): void {
  // A missed goal also sets the exit code.
  if (rows.some(({ met }) => met === false)) process.exitCode = 1;
  process.stdout.write(`${table(title, rows)}\n`);
}
