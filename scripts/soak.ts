/** Kills the server a thousand times under load, holds a permit of the real CLI for ten minutes, and tells what came of it. */
import { parseArgs } from "node:util";
import { killFirstStarts } from "../tests/crash/first-starts.ts";
import { type HoldReport, holdPermit } from "../tests/crash/hold.ts";
import { reportLines } from "../tests/crash/report.ts";
import { crashRounds } from "../tests/crash/rounds.ts";
import { plexusBinary } from "../tests/support/binary.ts";

const USAGE = `npm run soak -- [--rounds N] [--seed SEED] [--skip-hold] [--hold-minutes N] [--binary]

  --rounds N        how often the server is killed (1000)
  --seed SEED       follow the plan of an earlier run (else a new one)
  --hold-minutes N  how long the real CLI waits for its permit (10)
  --skip-hold       leave that out
  --binary          test the compiled executable instead of src/`;
const PROGRESS_EVERY = 50;
const FIRST_STARTS = 100;

const options = readOptions();
if (!options) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  process.exitCode = (await soak(options)) ? 0 : 1;
}

type Options = { rounds: number; seed: string; holdMs: number | undefined; isCompiled: boolean };

/** Says whether every promise was kept. */
async function soak({ rounds, seed, holdMs, isCompiled }: Options): Promise<boolean> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  const common = { program: isCompiled ? [await plexusBinary()] : undefined, stopped: stop.signal };
  const startedAt = performance.now();
  const onRound = (round: number) => {
    if (round % PROGRESS_EVERY === 0) console.log(`${round} rounds, ${seconds(performance.now() - startedAt)}`);
  };
  console.log(`seed ${seed}`);
  const [crashes, hold] = await Promise.all([
    crashRounds({ ...common, rounds, seed, onRound }),
    holdMs === undefined ? undefined : holdPermit({ ...common, holdMs }).catch(asBroken),
  ]);
  const starts = await killFirstStarts({ ...common, times: Math.min(rounds, FIRST_STARTS), seed });
  console.log(`\n${reportLines(crashes).join("\n")}\n`);
  console.log(`  ${starts.killed} kills during the very first start: ${outcomeOf(starts, "the next one works")}`);
  if (hold)
    console.log(`  A permit of the real CLI, held for ${seconds(hold.heldMs)}: ${outcomeOf(hold, "allowed, and run")}`);
  console.log(`  ${seconds(performance.now() - startedAt)} in all`);
  const violations = [crashes, starts, hold].flatMap((part) => part?.violations ?? []);
  return violations.length === 0 && crashes.rounds === rounds;
}

function outcomeOf({ violations }: { violations: string[] }, kept: string): string {
  return violations.length > 0 ? `BROKEN: ${violations.join("; ")}` : kept;
}

/** The rounds go on meanwhile, and are worth their report. */
function asBroken(cause: unknown): HoldReport {
  return { heldMs: 0, violations: [String(cause)] };
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: "string", default: "1000" },
        seed: { type: "string", default: String(Date.now()) },
        "hold-minutes": { type: "string", default: "10" },
        "skip-hold": { type: "boolean", default: false },
        binary: { type: "boolean", default: false },
      },
    });
    const [rounds, holdMinutes] = [Number(values.rounds), Number(values["hold-minutes"])];
    if (!Number.isInteger(rounds) || rounds < 1 || !(holdMinutes > 0)) return undefined;
    const holdMs = values["skip-hold"] ? undefined : holdMinutes * 60_000;
    return { rounds, seed: values.seed, holdMs, isCompiled: values.binary };
  } catch {
    return undefined;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
