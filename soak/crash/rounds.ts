import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withRun } from "../../tests/support/processes/run.ts";
import { createRandom } from "../../tests/support/random.ts";
import { freePort } from "../../tests/support/server/free-port.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { startActors } from "../actors/actors.ts";
import { newParent, type Parent } from "../actors/parents.ts";
import { createComparison } from "../ledger/comparison.ts";
import { createDisk } from "../ledger/disk.ts";
import { createLedger, type Moment } from "../ledger/ledger.ts";
import { createVerdicts, type Verdicts } from "../ledger/verdicts.ts";
import { InVain, moment, within } from "./moment.ts";
import type { Setup } from "./setup.ts";
import { createVictim, type Life } from "./victim.ts";

const OPERATOR: Parent = { token: "operator-token-of-the-crash-rounds", owner: "operator", name: "operator" };
/** Short, so that some requests time out, across kills. */
const APPROVAL_TIMEOUT_SECS = 4;
/** How long the load lasts: a time, or a number of moments of one kind. */
const ANY_TIME_MS = 400;
const MOST_MOMENTS = 100;
/** If nothing happens for this long, something is stuck. */
const STUCK_MS = 30_000;

/** When to kill the server: around one of these moments, during its start, or at any time. */
type KillAt = Moment | "starting" | "any time";
const SHARES: Record<KillAt, number> = {
  filing: 2,
  told: 1,
  deciding: 2,
  acknowledged: 2,
  answered: 1,
  starting: 1,
  "any time": 1,
};
const KILLS = Object.entries(SHARES).flatMap(([at, share]) => Array<KillAt>(share).fill(at as KillAt));
/** How long after such a moment to kill: writes of that moment take a few milliseconds. */
const AFTER_MS: Record<Moment, number> = { filing: 8, told: 3, deciding: 8, acknowledged: 0, answered: 3 };

export type CrashOptions = {
  rounds: number;
  seed: string;
  /** The server's command line; by default it runs from src/. */
  program?: string[] | undefined;
  onRound?: ((round: number) => void) | undefined;
  /** Aborting it ends the rounds early. */
  stopped?: AbortSignal | undefined;
};

export type CrashReport = {
  seed: string;
  rounds: number;
  figures: Record<string, number>;
  promises: ReturnType<Verdicts["counts"]>;
  violations: string[];
};

/** Kills the server `rounds` times under load; ends early if a promise is broken. */
export async function crashRounds(options: CrashOptions): Promise<CrashReport> {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, "data");
  await mkdir(dataDir);
  return await withRun((env) => runRounds(options, dataDir, env));
}

async function runRounds(options: CrashOptions, dataDir: string, env: Record<string, string>): Promise<CrashReport> {
  const random = createRandom(options.seed);
  const args = ["--approval-timeout-secs", String(APPROVAL_TIMEOUT_SECS)];
  const port = freePort(random);
  const victim = createVictim({ program: options.program, dataDir, port, token: OPERATOR.token, args, env });
  const setup: Setup = { victim, ledger: createLedger(), verdicts: createVerdicts(), disk: createDisk(dataDir) };
  const { ledger, verdicts, disk } = setup;
  const clock = createClock();
  const kills: Partial<Record<KillAt, number>> = {};
  let rounds = 0;
  let planned: KillAt[] = [];

  const first = victim.start();
  await first.listening;
  const actors = await startActors(setup, [OPERATOR, await newParent(victim.url, OPERATOR, "parent")], random);
  const comparison = createComparison(setup, actors.watchers, APPROVAL_TIMEOUT_SECS * 1000);
  try {
    const last = await killUnderLoad(first);
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
    kills: Object.values(kills).reduce((sum, count) => sum + count, 0),
    ...Object.fromEntries(Object.entries(kills).map(([at, count]) => [`killed: ${at}`, count])),
    ...ledger.figures,
    ...clock.figures(),
  };
  return { seed: options.seed, rounds, figures, promises: verdicts.counts(), violations: verdicts.violations };

  /** Returns the last server process, which still runs. */
  async function killUnderLoad(first: Life): Promise<Life> {
    let life = first;
    while (rounds < options.rounds && verdicts.violations.length === 0 && !options.stopped?.aborted) {
      const at = nextKill();
      await timeFor(at, life);
      await kill(life, at);
      comparison.afterEnd(life);
      disk.close();
      rounds++;
      options.onRound?.(rounds);
      life = victim.start();
    }
    await life.listening;
    return life;
  }

  /** Returns the kinds of kills in random order, but every kind before one repeats, so that few rounds cover all. */
  function nextKill(): KillAt {
    if (planned.length === 0) planned = random.sample(KILLS, KILLS.length);
    return planned.pop() ?? "any time";
  }

  async function timeFor(at: KillAt, life: Life): Promise<void> {
    if (at === "starting") return moment(random.next() * clock.typicalStartMs());
    await life.listening;
    const failed = Promise.race([actors.failed, verdicts.broken]);
    await Promise.race([failed, comparison.throughApi(life, OPERATOR)]);
    if (at === "any time") return moment(random.next() * ANY_TIME_MS);
    const coming = ledger.next(at, random.between(1, MOST_MOMENTS));
    await within(STUCK_MS, `anything like "${at}"`, Promise.race([failed, coming]));
    if (AFTER_MS[at] > 0) await moment(random.next() * AFTER_MS[at]);
  }

  async function kill(life: Life, at: KillAt): Promise<void> {
    const killing = victim.kill();
    kills[at] = (kills[at] ?? 0) + 1;
    await killing;
    ended(life);
  }

  /** Lets every actor get its answers from a server that nobody kills, then compares everything once more. */
  async function finish(life: Life): Promise<void> {
    await comparison.throughApi(life, OPERATOR);
    await actors.finish();
    const exitCode = await victim.stop();
    verdicts.check("up", exitCode === 0, () => `it stopped with ${exitCode}`);
    ended(life);
    comparison.afterEnd(life);
    comparison.atEnd();
  }

  function ended(life: Life): void {
    clock.ended(life);
    const errors = life.log.filter((line) => !line.startsWith("{") || line.includes('"level":"error"'));
    verdicts.check("up", errors.length === 0, () => `the server logged ${errors[0]}`);
  }
}

/** Measures starts and outages, in milliseconds. */
function createClock() {
  const starts: number[] = [];
  const outages: number[] = [];
  let endedAt: number | undefined;
  return {
    ended({ startedAt, listensAt }: Life): void {
      if (listensAt !== undefined) {
        starts.push(listensAt - startedAt);
        if (endedAt !== undefined) outages.push(listensAt - endedAt);
      }
      // An outage may span several starts that were killed.
      if (listensAt !== undefined || endedAt === undefined) endedAt = performance.now();
    },
    typicalStartMs: () => (starts.at(-1) ?? 400) * 1.2,
    figures: () => ({
      "median start, ms": Math.round(starts.toSorted((a, b) => a - b)[starts.length >> 1] ?? 0),
      "worst start, ms": Math.round(Math.max(0, ...starts)),
      "worst outage, ms": Math.round(Math.max(0, ...outages)),
    }),
  };
}
