/** Kills, loads and tests the server for a long time, and reports what was promised and what happened. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { killFirstStarts } from "../soak/crash/first-starts.ts";
import { holdPermit } from "../soak/crash/hold.ts";
import { killUnderPermit } from "../soak/crash/kills.ts";
import { sitOut } from "../soak/crash/outage.ts";
import { crashRounds } from "../soak/crash/rounds.ts";
import { killDuringTurns } from "../soak/crash/turns.ts";
import { reportLines } from "../soak/ledger/report.ts";
import { soakDay, soakFaults } from "../soak/load/soak.ts";
import { plexusBinary } from "../tests/support/server/binary.ts";
import { ROOT } from "./run.ts";

const USAGE = `npm run soak -- [--rounds N] [--seed SEED] [--skip-hold] [--hold-minutes N] [--outage-secs N]
                [--day-minutes N] [--skip-faults] [--skip-rows] [--binary]

  --rounds N        how often the server is killed under load (1000); 0 leaves that out
  --seed SEED       follow the plan of an earlier run (else a new one)
  --hold-minutes N  how long the real CLI waits for its permit (10)
  --outage-secs N   how long the server is away while the real CLI waits over stdio (60)
  --skip-hold       leave both out, and the kills under a permit of the real CLI
  --day-minutes N   how long a day of asks of 200 children takes (10); 0 leaves that out
  --skip-faults     leave out disk, lock, clock, descriptors, connections, bodies and wrong tokens
  --skip-rows       leave out the tests of which npm test runs only the first and the last row
  --binary          kill and load the compiled executable instead of src/`;
const PROGRESS_EVERY = 50;
const FIRST_STARTS = 100;
const TURN_KILLS = 500;
const PERMIT_KILLS = 5;
/** Longer than the time after which a request is abandoned if its child has not come back. */
const GIVEN_UP_AFTER_MS = 20_000;

const options = readOptions();
if (!options) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  process.exitCode = (await soak(options)) ? 0 : 1;
}

type Options = {
  rounds: number;
  seed: string;
  hold: { holdMs: number; outageMs: number } | undefined;
  dayMinutes: number;
  skipsFaults: boolean;
  skipsRows: boolean;
  isCompiled: boolean;
};
type Report = { violations: string[] };
type Common = { program: string[] | undefined; stopped: AbortSignal };

/** Returns whether every promise was kept. */
async function soak(options: Options): Promise<boolean> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  const common = { program: options.isCompiled ? [await plexusBinary()] : undefined, stopped: stop.signal };
  const { seed, dayMinutes } = options;
  console.log(`seed ${seed}`);
  const areKept = [options.rounds === 0 || (await soakCrashes(common, options))];
  if (dayMinutes > 0 && !stop.signal.aborted) areKept.push(tell(await soakDay({ ...common, seed }, dayMinutes)));
  if (!options.skipsFaults && !stop.signal.aborted) areKept.push(tell(await soakFaults()));
  if (!options.skipsRows && !stop.signal.aborted) areKept.push(await soakRows(stop.signal));
  return areKept.every(Boolean);
}

/** Runs every row of the tests of which `npm test` runs some. */
async function soakRows(stopped: AbortSignal): Promise<boolean> {
  const files = [...new Bun.Glob("tests/**/*.test.ts").scanSync({ cwd: ROOT })];
  const ofRows = files.filter((file) => readFileSync(join(ROOT, file), "utf8").includes('/support/alike-rows.ts"'));
  const tests = Bun.spawn([process.execPath, "scripts/test.ts", ...ofRows], {
    cwd: ROOT,
    env: { ...process.env, TEST_EVERY_ROW: "1" },
    stdio: ["ignore", "inherit", "inherit"],
    signal: stopped,
  });
  return (await tests.exited) === 0;
}

function tell({ lines, violations }: Report & { lines: string[] }): boolean {
  console.log(`\n${lines.join("\n")}`);
  for (const violation of violations) console.log(`BROKEN: ${violation}`);
  return violations.length === 0;
}

async function soakCrashes(common: Common, { rounds, seed, hold }: Options): Promise<boolean> {
  const startedAt = performance.now();
  const onRound = (round: number) => {
    if (round % PROGRESS_EVERY === 0) console.log(`${round} rounds, ${seconds(performance.now() - startedAt)}`);
  };
  const [crashes, held, outage, killed] = await Promise.all([
    crashRounds({ ...common, rounds, seed, onRound }),
    hold && holdPermit({ ...common, ...hold }).catch(asBroken),
    hold && sitOut({ ...common, ...hold, decideAfterMs: GIVEN_UP_AFTER_MS }).catch(asBroken),
    hold && killUnderPermit({ ...common, kills: PERMIT_KILLS }).catch(asBroken),
  ]);
  const starts = await killFirstStarts({ ...common, times: Math.min(rounds, FIRST_STARTS), seed });
  const turns = await killDuringTurns({ ...common, kills: Math.min(rounds, TURN_KILLS), seed });
  console.log(`\n${reportLines(crashes).join("\n")}\n`);
  console.log(`  ${starts.killed} kills during the very first start: ${outcomeOf(starts, "the next one works")}`);
  const told = `all ${turns.messages} messages of the children are told once, in order`;
  console.log(`  ${turns.killed} kills while children write: ${outcomeOf(turns, told)}`);
  if (hold && held && outage && killed) {
    const kept = "allowed, and run";
    console.log(`  A permit of the real CLI, held for ${seconds(hold.holdMs)}: ${outcomeOf(held, kept)}`);
    console.log(`  One whose server is killed ${PERMIT_KILLS} times: ${outcomeOf(killed, kept)}`);
    console.log(`  One over stdio, the server away for ${seconds(hold.outageMs)}: ${outcomeOf(outage, kept)}`);
  }
  console.log(`  ${seconds(performance.now() - startedAt)} in all`);
  const violations = [crashes, starts, turns, held, outage, killed].flatMap((part) => part?.violations ?? []);
  return violations.length === 0 && crashes.rounds === rounds;
}

function outcomeOf({ violations }: Report, kept: string): string {
  return violations.length > 0 ? `BROKEN: ${violations.join("; ")}` : kept;
}

/** Reports the failure as a violation, because the other rounds continue and their report still counts. */
function asBroken(cause: unknown): Report {
  return { violations: [String(cause)] };
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: "string", default: "1000" },
        seed: { type: "string", default: String(Date.now()) },
        "hold-minutes": { type: "string", default: "10" },
        "outage-secs": { type: "string", default: "60" },
        "skip-hold": { type: "boolean", default: false },
        "day-minutes": { type: "string", default: "10" },
        "skip-faults": { type: "boolean", default: false },
        "skip-rows": { type: "boolean", default: false },
        binary: { type: "boolean", default: false },
      },
    });
    const [rounds, dayMinutes] = [Number(values.rounds), Number(values["day-minutes"])];
    const hold = { holdMs: Number(values["hold-minutes"]) * 60_000, outageMs: Number(values["outage-secs"]) * 1000 };
    if (!Number.isInteger(rounds) || rounds < 0 || !(hold.holdMs > 0) || !(hold.outageMs > 0)) return undefined;
    if (!(dayMinutes >= 0)) return undefined;
    const [skipsFaults, skipsRows, isCompiled] = [values["skip-faults"], values["skip-rows"], values.binary];
    return {
      rounds,
      seed: values.seed,
      hold: values["skip-hold"] ? undefined : hold,
      dayMinutes,
      skipsFaults,
      skipsRows,
      isCompiled,
    };
  } catch {
    return undefined;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
