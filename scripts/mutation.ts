/**
 * Changes the rules' matcher and its reading of commands in thousands of ways, and reports the changes that no test
 * detects.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { described, type Instrumenter, instrumented } from "../soak/mutation/mutants.ts";
import { type Tried, tryMutants } from "../soak/mutation/run.ts";
import { installPackages } from "../tests/support/installed-packages.ts";

const USAGE = `npm run mutation -- [--every N] [PATH…]

  PATH…      only sources whose paths begin like one of these: src/core/rules/matching/prove.ts
  --every N  only each Nth mutant, for a quick look`;
const PROGRESS_EVERY = 100;

const options = readOptions();
if (!options) {
  console.error(USAGE);
  process.exitCode = 2;
} else await tryAll(options);

async function tryAll({ every, paths }: { every: number; paths: string[] }): Promise<void> {
  const packages = await installPackages({
    directory: join(import.meta.dir, "../soak/mutation"),
    name: "plexus-mutation",
  });
  if ("missing" in packages) throw new Error(packages.missing);
  const { files, mutants } = await instrumented(
    await packages.load<Instrumenter>("@stryker-mutator/instrumenter"),
    paths,
  );
  const chosen = mutants.filter((_, at) => at % every === 0);
  console.log(`${chosen.length} of ${mutants.length} mutants`);
  const counts: Record<Tried["outcome"], number> = { killed: 0, "timed out": 0, survived: 0, "not reached": 0 };
  await tryMutants({ files, mutants: chosen }, ({ mutant, outcome }) => {
    counts[outcome]++;
    if (outcome === "survived" || outcome === "not reached") console.log(`${outcome}  ${described(mutant)}`);
    const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (done % PROGRESS_EVERY === 0) console.error(`${done} tried`);
  });
  const noticed = counts.killed + counts["timed out"];
  console.log(
    Object.entries(counts)
      .map(([outcome, count]) => `${count} ${outcome}`)
      .join(", "),
  );
  console.log(`${((100 * noticed) / Math.max(1, chosen.length)).toFixed(1)} % noticed`);
}

function readOptions(): { every: number; paths: string[] } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { every: { type: "string", default: "1" } },
    });
    const every = Number(values.every);
    return Number.isInteger(every) && every > 0 ? { every, paths: positionals } : undefined;
  } catch {
    return undefined;
  }
}
