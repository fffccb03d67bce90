import { Database } from "bun:sqlite";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withRun } from "../../tests/support/processes/run.ts";
import { createRandom } from "../../tests/support/random.ts";
import { freePort } from "../../tests/support/server/free-port.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { startActors } from "../actors/actors.ts";
import type { Habits } from "../actors/child.ts";
import { newParent, type Parent } from "../actors/parents.ts";
import { InVain } from "../crash/moment.ts";
import type { CrashReport } from "../crash/rounds.ts";
import type { Setup } from "../crash/setup.ts";
import { createVictim, type Life } from "../crash/victim.ts";
import { createComparison } from "../ledger/comparison.ts";
import { createDisk } from "../ledger/disk.ts";
import { createLedger } from "../ledger/ledger.ts";
import { createVerdicts } from "../ledger/verdicts.ts";
import { openSlowReaders } from "./slow-readers.ts";
import { createWatch, type Flatness } from "./watch.ts";

const OPERATOR: Parent = { token: "operator-token-of-the-day", owner: "operator", name: "operator" };
const PARENTS = 3;
const SLOW_READERS = 6;
const APPROVAL_TIMEOUT_SECS = 5;
/**
 * The first part of the day has restarts; the rest is one server, which runs long enough to see whether anything grows.
 */
const RESTLESS = 0.55;
/** The part of that server's time before the first measurement. */
const WARM_UP = 0.35;
const HANGS_UP = 0.3;

const ENDINGS = ["kill -9", "SIGTERM", "SIGUSR2"] as const;
type Ending = (typeof ENDINGS)[number];

export type DayOptions = {
  seed: string;
  durationMs: number;
  children: number;
  asksPerSecond: number;
  restarts: number;
  program?: string[] | undefined;
  /** Aborting it ends the day early. */
  stopped?: AbortSignal | undefined;
};
export type DayReport = CrashReport & { flatness: Flatness[] };

/**
 * Runs a day's requests within minutes: many children, some of which disconnect, several deciders, slow readers, and
 * restarts.
 */
export async function liveThroughDay(options: DayOptions): Promise<DayReport> {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, "data");
  await mkdir(dataDir);
  return await withRun((env) => runDay(options, dataDir, env));
}

async function runDay(options: DayOptions, dataDir: string, env: Record<string, string>): Promise<DayReport> {
  const random = createRandom(options.seed);
  const args = ["--approval-timeout-secs", String(APPROVAL_TIMEOUT_SECS)];
  const port = freePort(random);
  const victim = createVictim({ program: options.program, dataDir, port, token: OPERATOR.token, args, env });
  const setup: Setup = { victim, ledger: createLedger(), verdicts: createVerdicts(), disk: createDisk(dataDir) };
  const { ledger, verdicts, disk } = setup;
  const ends: Record<Ending, number> = { "kill -9": 0, SIGTERM: 0, SIGUSR2: 0 };
  const watch = createWatch(() => clientsIn(dataDir));
  const workMs = (1000 * options.children) / options.asksPerSecond;
  const habits: Habits = { lanes: 1, asks: [1e6, 1e6], workMs, hangsUp: HANGS_UP };

  const first = victim.start();
  await first.listening;
  const named = Array.from({ length: PARENTS - 1 }, (_, index) => newParent(victim.url, OPERATOR, `parent-${index}`));
  const parents = [OPERATOR, ...(await Promise.all(named))];
  const actors = await startActors(setup, parents, random, { children: options.children, habits });
  const comparison = createComparison(setup, actors.watchers, APPROVAL_TIMEOUT_SECS * 1000);
  const startedAt = performance.now();
  let seconds = 0;
  try {
    const last = await restless(first);
    if (isGoingOn()) await steady(last);
    seconds = (performance.now() - startedAt) / 1000;
    if (verdicts.violations.length === 0) await finish(last);
  } catch (cause) {
    const promised = cause instanceof InVain ? "answered" : "up";
    verdicts.check(promised, false, () => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)));
  } finally {
    await victim.kill();
    await actors.end();
    disk.close();
  }
  const figures = {
    children: options.children,
    seconds: Math.round(seconds),
    "asks a second": Math.round(ledger.figures.asks / seconds),
    ...Object.fromEntries(ENDINGS.map((ending) => [`restarts by ${ending}`, ends[ending]])),
    ...ledger.figures,
  };
  const restarts = ENDINGS.reduce((sum, ending) => sum + ends[ending], 0);
  const { seed } = options;
  const { violations } = verdicts;
  return { seed, rounds: restarts, figures, promises: verdicts.counts(), violations, flatness: watch.flatness() };

  /** Ends one server after the other, and returns the last one, which still runs. */
  async function restless(first: Life): Promise<Life> {
    let life = first;
    for (let done = 0; done < options.restarts && isGoingOn(); done++) {
      using _ = await openSlowReaders(victim.url, OPERATOR.token, SLOW_READERS);
      const share = ((done + random.next()) / options.restarts) * RESTLESS;
      await Promise.race([actors.failed, verdicts.broken, passed(share)]);
      // In turn, so that a short day has all kinds of endings.
      await end(life, ENDINGS[done % ENDINGS.length] ?? "kill -9");
      comparison.afterEnd(life);
      disk.close();
      life = victim.start();
      await life.listening;
      await comparison.throughApi(life, OPERATOR);
    }
    return life;
  }

  /** Runs one server without a restart: at the end it may hold no more than when it was warm. */
  async function steady(life: Life): Promise<void> {
    using _ = await openSlowReaders(victim.url, OPERATOR.token, SLOW_READERS);
    const failed = Promise.race([actors.failed, verdicts.broken]);
    await Promise.race([failed, passed(RESTLESS + (1 - RESTLESS) * WARM_UP)]);
    await watch.warm(life.pid);
    await Promise.race([failed, passed(1)]);
    await watch.end(life.pid);
  }

  async function finish(life: Life): Promise<void> {
    await actors.finish();
    const pending = disk.pending().length;
    verdicts.check("answered", pending === 0, () => `${pending} asks are left when all is over`);
    await end(life, "SIGTERM");
    comparison.afterEnd(life);
    comparison.atEnd();
  }

  async function end(life: Life, ending: Ending): Promise<void> {
    ends[ending]++;
    const exitCode = await { "kill -9": victim.kill, SIGTERM: victim.stop, SIGUSR2: victim.handOver }[ending]();
    verdicts.check("up", ending === "kill -9" || exitCode === 0, () => `it ended with ${exitCode} on ${ending}`);
    const errors = life.log.filter((line) => !line.startsWith("{") || line.includes('"level":"error"'));
    verdicts.check("up", errors.length === 0, () => `the server logged ${errors[0]}`);
  }

  function isGoingOn(): boolean {
    return verdicts.violations.length === 0 && !options.stopped?.aborted;
  }

  /** Resolves when this share of the day has passed, or when the day ends early. */
  async function passed(share: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, startedAt + share * options.durationMs - performance.now()));
    options.stopped?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
}

/** Counts the MCP clients that the server has stored. */
function clientsIn(dataDir: string): number {
  using database = new Database(join(dataDir, "plexus.db"), { readonly: true });
  return database.query<{ count: number }, []>("SELECT count(*) AS count FROM mcp_clients").get()?.count ?? 0;
}
